package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) configCommand() *cobra.Command {
	var sample bool
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the settings and where each comes from",
		Long: `Show the settings, their values, and where each comes from: a default, the
file, the environment or a flag. The file is gjc-index.toml in the home, or the
one that --config or the variable GJC_INDEX_CONFIG names; "none" is no file. It
need not be there, and nothing but you writes it.

A key that does not exist and a value that does not fit are errors that name
the line. --sample prints a file with every setting, commented out.`,
		Example: `  gjc-index config
  gjc-index config --json
  gjc-index config --sample > ~/.gjc/agent/gjc-index.toml`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if sample {
				return a.configSample()
			}
			return a.showConfig()
		},
	}
	cmd.Flags().BoolVar(&sample, "sample", false, "print a file to begin with")
	return cmd
}

// settingJSON is one setting; fields are only ever added.
type settingJSON struct {
	Key   string `json:"key"` // "config" is the file itself
	Value any    `json:"value"`
	From  origin `json:"from"`
	Line  *int   `json:"line"`            // in the file
	There *bool  `json:"there,omitempty"` // of the file
}

func (a *app) showConfig() error {
	set, err := a.settings()
	if err != nil {
		return err
	}
	there := set.file.there
	rows := []settingJSON{{Key: "config", Value: nil, From: set.file.from, There: &there}}
	if set.file.path != "" {
		rows[0].Value = set.file.path
	}
	for _, one := range allSettings() {
		row := settingJSON{Key: one.key, From: fromDefault}
		if value, ok := one.show(set); ok {
			row.Value = value
		}
		if line, ok := set.file.lines[one.key]; ok {
			row.From, row.Line = fromFile, &line
		}
		if one.key == "colour" {
			a.colourRow(&row)
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		if a.json {
			if err := a.printJSON(row); err != nil {
				return err
			}
			continue
		}
		from := string(row.From)
		switch {
		case row.Line != nil:
			from = fmt.Sprintf("line %d", *row.Line)
		case row.There != nil && row.Value != nil && !there:
			from += ", not there"
		}
		a.printf("%s  %s  %s\n", pad(row.Key, 26), pad(plain(settingWords(row)), 32), a.screen.paint(dim, from))
	}
	return nil
}

// colourRow is what --colour and NO_COLOR make of the setting.
func (a *app) colourRow(row *settingJSON) {
	switch {
	case a.colour != "":
		row.Value, row.From, row.Line = a.colour, fromFlag, nil
	case row.From == fromDefault && a.env("NO_COLOR") != "":
		row.Value, row.From = colourNever, fromEnvironment
	}
}

// settingWords is a value for people.
func settingWords(row settingJSON) string {
	switch v := row.Value.(type) {
	case nil:
		return map[string]string{"config": "no file", "psm.exec": "none: sentences are picked", "usage.tz": "this machine's", "list.limit": "all"}[row.Key]
	case []string:
		return strings.Join(v, " ")
	default:
		return fmt.Sprint(v)
	}
}

// configSample prints every setting as a comment, with its default or an
// example of a value.
func (a *app) configSample() error {
	if a.json {
		return usagef("--sample prints a file, which is no JSON: leave --json out")
	}
	examples := map[string]string{"psm.exec": `"./summarize.py --short"`, "usage.tz": `"Europe/Berlin"`, "list.limit": "100"}
	a.printf("# Settings of gjc-index. A flag of a command stands over them.\n")
	for _, one := range allSettings() {
		text, ok := examples[one.key]
		if value, set := one.show(defaultSettings()); !ok && set {
			line, err := encodeJSON(value)
			if err != nil {
				return err
			}
			text = strings.TrimSpace(line)
		}
		a.printf("\n# %s: %s.\n# %s = %s\n", one.what, one.want, one.key, text)
	}
	return nil
}

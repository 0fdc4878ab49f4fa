package main

import "strings"

// pickStyle is how the picker marks things. Only the terminal's own palette is
// used, but for the selected line, whose ground must be told from the rest in
// light and dark.
type pickStyle struct {
	colour bool
	ground ground
}

// ground is what is known of a terminal's background.
type ground uint8

const (
	groundUnknown ground = iota
	groundDark
	groundLight
)

const (
	green  = "32"
	yellow = "33"
)

func (s pickStyle) paint(code, text string) string {
	if !s.colour {
		return text
	}
	return painted(code, text)
}

// selected marks the line with the cursor, also where there are no colours.
func (s pickStyle) selected(text string) string {
	switch {
	case !s.colour || s.ground == groundUnknown:
		return painted("7", text)
	case s.ground == groundLight:
		return painted("48;5;253", text)
	}
	return painted("48;5;237", text)
}

func painted(code, text string) string {
	if text == "" {
		return ""
	}
	return "\x1b[" + code + "m" + text + "\x1b[m"
}

// rule is a line across the screen.
func (s pickStyle) rule(width int) string { return s.paint(dim, strings.Repeat("─", max(0, width))) }

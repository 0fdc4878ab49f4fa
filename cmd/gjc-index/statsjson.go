package main

// What stats prints with --json; fields are only ever added.

type statsJSON struct {
	Zone         string            `json:"zone"`
	Since        *string           `json:"since"`
	Prompts      int               `json:"prompts"`
	Sessions     int               `json:"sessions"`
	Hours        [24]int           `json:"hours"`
	Weekdays     [7]int            `json:"weekdays"`
	Grid         [7][24]int        `json:"grid"`
	Days         []dayStatJSON     `json:"days"`
	Projects     []projectStatJSON `json:"projects"`
	ProjectCount int               `json:"projectCount"`
	Models       []modelStatJSON   `json:"models"`
	ModelCount   int               `json:"modelCount"`
	Tools        []toolStatJSON    `json:"tools"`
	ToolCount    int               `json:"toolCount"`
	HTML         string            `json:"html,omitempty"`
}

type dayStatJSON struct {
	Day     string `json:"day"`
	Prompts int    `json:"prompts"`
}

type projectStatJSON struct {
	Project  string `json:"project"`
	Prompts  int    `json:"prompts"`
	Sessions int    `json:"sessions"`
}

type modelStatJSON struct {
	Model      string   `json:"model"`
	Requests   int64    `json:"requests"`
	Input      float64  `json:"input"`
	Output     float64  `json:"output"`
	CacheRead  float64  `json:"cacheRead"`
	CacheWrite float64  `json:"cacheWrite"`
	Cost       *float64 `json:"cost"` // null: no price is known
}

type toolStatJSON struct {
	Tool    string `json:"tool"`
	Results int    `json:"results"`
}

func statsOf(s toldStats, page string) statsJSON {
	out := statsJSON{
		Zone: zoneName(s.zone, s.now), Since: jsonTime(s.since), Prompts: s.Prompts, Sessions: s.Sessions,
		Hours: s.byHour(), Weekdays: s.byWeekday(), Grid: s.Stats.Hours,
		Days: []dayStatJSON{}, Projects: []projectStatJSON{}, Models: []modelStatJSON{}, Tools: []toolStatJSON{},
		ProjectCount: len(s.Projects), ModelCount: len(s.Models), ToolCount: len(s.Tools), HTML: page,
	}
	for _, d := range s.Days {
		out.Days = append(out.Days, dayStatJSON{d.Name, d.Count})
	}
	for _, p := range firstOf(s.Projects, s.most) {
		out.Projects = append(out.Projects, projectStatJSON{p.Project, p.Prompts, p.Sessions})
	}
	for _, m := range firstOf(s.Models, s.most) {
		out.Models = append(out.Models, modelStatJSON{m.Key, m.Requests, m.Input, m.Output, m.CacheRead, m.CacheWrite, m.Cost})
	}
	for _, t := range firstOf(s.Tools, s.most) {
		out.Tools = append(out.Tools, toolStatJSON{t.Name, t.Count})
	}
	return out
}

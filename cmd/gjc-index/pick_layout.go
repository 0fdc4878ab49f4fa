package main

// box is a part of the screen.
type box struct{ x, y, width, height int }

func (b box) holds(x, y int) bool {
	return x >= b.x && x < b.x+b.width && y >= b.y && y < b.y+b.height
}

// pickLayout says what stands where. A box without height is not shown.
type pickLayout struct {
	list, look box
	rule       bool // below the query
	beside     bool // the preview stands beside the list, else below it
	foot       int  // lines at the bottom
}

const (
	narrowest   = 12  // a narrower screen shows the left part of one so wide
	besideWidth = 100 // from so many columns on the preview stands beside the list
	belowHeight = 20  // and from so many lines on below it
	ruleHeight  = 8
	besideGap   = 3
)

func (m *picker) layout() pickLayout {
	var l pickLayout
	w, h := max(narrowest, m.width), max(1, m.height)
	l.rule = h >= ruleHeight
	l.foot = min(len(m.foot(w)), max(0, h-2))
	top := 1
	if l.rule {
		top++
	}
	body := max(0, h-top-l.foot)
	l.list = box{0, top, w, body}
	switch {
	case m.mode == modeLook:
		l.look, l.list = box{0, top, w, body}, box{0, top, w, 0}
	case m.plain || len(m.rows.items) == 0:
	case w >= besideWidth:
		l.beside = true
		l.list.width = max(56, w*52/100)
		l.look = box{l.list.width + besideGap, top, w - l.list.width - besideGap, body}
	case h >= belowHeight && w >= 40:
		l.list.height = max(5, body*45/100)
		l.look = box{0, top + l.list.height + 1, w, body - l.list.height - 1}
	}
	return l
}

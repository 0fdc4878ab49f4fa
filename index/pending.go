package index

// pending is what a refresh saw on disk and could not bring into the database:
// answers put it in from the files.
type pending struct {
	walk *walk
	all  bool // there is nothing in the database
	new  []pendingFile
	gone map[int64]bool // sessions.key
}

type pendingFile struct {
	scope string
	file  diskFile
}

func pendingOf(w *walk, p *plan) *pending {
	out := &pending{walk: w, gone: map[int64]bool{}}
	for i := range p.jobs {
		j := &p.jobs[i]
		switch j.why {
		case isNew:
			out.new = append(out.new, pendingFile{p.scopes[j.scope].name, j.file})
		case isGone:
			out.gone[j.key] = true
		}
	}
	return out
}

// files are those that have to be listed from the disk.
func (p *pending) files() []pendingFile {
	if p == nil || !p.all {
		if p == nil {
			return nil
		}
		return p.new
	}
	var all []pendingFile
	for i := range p.walk.scopes {
		s := &p.walk.scopes[i]
		for _, f := range s.files {
			all = append(all, pendingFile{s.name, f})
		}
	}
	return all
}

func (x *Index) setPending(p *pending) {
	x.pendingMu.Lock()
	defer x.pendingMu.Unlock()
	x.pending = p
}

func (x *Index) unstored() *pending {
	x.pendingMu.Lock()
	defer x.pendingMu.Unlock()
	return x.pending
}

// names are the paths of the files that are not in the database.
func (p *pending) names() map[string]bool {
	names := map[string]bool{}
	for _, f := range p.files() {
		names[p.walk.path(f.scope, f.file.name)] = true
	}
	return names
}

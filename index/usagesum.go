package index

import (
	"context"
	"slices"
)

// factBatch is some facts of several sessions, in their order. Two goroutines
// share the work: one reads packs, the other one counts.
type factBatch struct {
	facts []usageFact
	runs  []factRun
}

// factRun is the facts of one session that are in a batch.
type factRun struct {
	of   *sessionPack
	from int
	told bool // all facts of the session are here, to be judged together
}

const (
	batchFacts  = 512 // and what is begun is ended for a session whose facts are judged together
	batchesHeld = 6
)

// all sums up sessions.
func (s *usageSum) all(ctx context.Context, packs []sessionPack) error {
	order := make([]*sessionPack, len(packs))
	bytes := 0
	for i := range packs {
		order[i] = &packs[i]
		bytes += len(packs[i].pack)
	}
	slices.SortFunc(order, (*sessionPack).older)
	s.seen = newSumSet(bytes / 32)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	free, full := make(chan *factBatch, batchesHeld), make(chan *factBatch, batchesHeld)
	for range batchesHeld {
		free <- &factBatch{}
	}
	failed := make(chan error, 1)
	go func() {
		u := &unpacker{free: free, full: full, names: map[string]string{}}
		failed <- u.all(ctx, order)
		close(full)
	}()
	for b := range full {
		s.batch(b)
		b.facts, b.runs = b.facts[:0], b.runs[:0]
		free <- b
	}
	return <-failed
}

// batch counts the facts of a batch.
func (s *usageSum) batch(b *factBatch) {
	s.warmth ^= s.seen.warm(b.facts)
	for i, run := range b.runs {
		end := len(b.facts)
		if i+1 < len(b.runs) {
			end = b.runs[i+1].from
		}
		s.begin(run.of)
		facts := b.facts[run.from:end]
		if run.told {
			s.told(facts)
			continue
		}
		for j := range facts {
			s.add(&facts[j])
		}
	}
}

// unpacker reads packs into batches.
type unpacker struct {
	free, full chan *factBatch
	names      map[string]string // each name once
	batch      *factBatch
}

func (u *unpacker) all(ctx context.Context, order []*sessionPack) error {
	for _, p := range order {
		if err := u.pack(ctx, p); err != nil {
			return err
		}
	}
	if u.batch != nil {
		u.full <- u.batch // there is room for all that there are
	}
	return ctx.Err()
}

// pack reads one pack. The facts of one that need not be judged together may be
// cut over several batches.
func (u *unpacker) pack(ctx context.Context, p *sessionPack) error {
	told := packTold(p.pack)
	if err := u.begin(ctx, p, told); err != nil {
		return err
	}
	var stopped error
	err := eachFact(p.pack, u.intern, func(f *usageFact) {
		if stopped != nil {
			return
		}
		if len(u.batch.facts) >= batchFacts && !told {
			if stopped = u.begin(ctx, p, told); stopped != nil {
				return
			}
		}
		u.batch.facts = append(u.batch.facts, *f)
	})
	if stopped != nil {
		return stopped
	}
	return err
}

// begin begins a session in the batch, or in the next one if that is full.
func (u *unpacker) begin(ctx context.Context, p *sessionPack, told bool) error {
	if u.batch != nil && len(u.batch.facts) >= batchFacts {
		u.full <- u.batch
		u.batch = nil
	}
	if u.batch == nil {
		select {
		case u.batch = <-u.free:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	u.batch.runs = append(u.batch.runs, factRun{p, len(u.batch.facts), told})
	return nil
}

func (u *unpacker) intern(name []byte) string {
	if known, ok := u.names[string(name)]; ok {
		return known
	}
	s := string(name)
	u.names[s] = s
	return s
}

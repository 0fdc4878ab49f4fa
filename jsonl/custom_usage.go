package jsonl

// The states of a UsageRecord.
const (
	UsagePartial = "partial"
	UsageFinal   = "final"
	UsageAborted = "aborted"
	UsageError   = "error"
)

// UsageRecord is what one request to a provider has cost so far. A later
// record of the same request replaces it.
type UsageRecord struct {
	Request         string // names the request
	State           string // UsagePartial, UsageFinal, UsageAborted or UsageError
	EntryID         string // the message that answered; "" if there is none yet
	Provider, Model string

	Input, Output, CacheRead, CacheWrite float64 // tokens

	Cost *float64 // nil: the price is unknown
}

// Kind is KindUsage.
func (u *UsageRecord) Kind() string { return KindUsage }

// Data is the entry's data.
func (u *UsageRecord) Data() *Obj {
	o := data(textMember("request", u.Request), textMember("state", u.State))
	setText(o, "entryId", u.EntryID)
	o.Set("provider", StringValue(u.Provider))
	o.Set("model", StringValue(u.Model))
	setTokens(o, u.Input, u.Output, u.CacheRead, u.CacheWrite)
	if u.Cost != nil {
		o.Set("cost", NumberValue(*u.Cost))
	}
	return o
}

func parseUsage(s *shape) *UsageRecord {
	return &UsageRecord{
		Request:    s.name("request"),
		State:      s.oneOf("state", UsagePartial, UsageFinal, UsageAborted, UsageError),
		EntryID:    s.optional("entryId"),
		Provider:   s.text("provider"),
		Model:      s.text("model"),
		Input:      s.amount("input"),
		Output:     s.amount("output"),
		CacheRead:  s.amount("cacheRead"),
		CacheWrite: s.amount("cacheWrite"),
		Cost:       s.price("cost"),
	}
}

// UsageCheckpoint keeps the totals of requests whose entries were removed.
type UsageCheckpoint struct {
	Totals []UsageTotal
}

// UsageTotal is the sum over some requests.
type UsageTotal struct {
	Origin          string // the session that made the requests
	Day             string // of the requests, as 2006-01-02 in UTC
	Provider, Model string

	Input, Output, CacheRead, CacheWrite float64 // tokens

	Cost       *float64 // the sum of the known prices; nil: none is known
	Requests   int64
	Incomplete int64 // requests without a final record
}

// Kind is KindUsageCheckpoint.
func (c *UsageCheckpoint) Kind() string { return KindUsageCheckpoint }

// Data is the entry's data.
func (c *UsageCheckpoint) Data() *Obj {
	totals := make([]Value, len(c.Totals))
	for i, t := range c.Totals {
		o := NewObj(textMember("origin", t.Origin), textMember("day", t.Day),
			textMember("provider", t.Provider), textMember("model", t.Model))
		setTokens(o, t.Input, t.Output, t.CacheRead, t.CacheWrite)
		o.Set("cost", priceValue(t.Cost))
		o.Set("requests", NumberValue(float64(t.Requests)))
		o.Set("incomplete", NumberValue(float64(t.Incomplete)))
		totals[i] = ObjectValue(o)
	}
	return data(Member{"totals", ArrayValue(totals...)})
}

func parseUsageCheckpoint(s *shape) *UsageCheckpoint {
	c := &UsageCheckpoint{}
	for _, t := range s.items("totals") {
		c.Totals = append(c.Totals, UsageTotal{
			Origin:     t.text("origin"),
			Day:        t.text("day"),
			Provider:   t.text("provider"),
			Model:      t.text("model"),
			Input:      t.amount("input"),
			Output:     t.amount("output"),
			CacheRead:  t.amount("cacheRead"),
			CacheWrite: t.amount("cacheWrite"),
			Cost:       t.price("cost"),
			Requests:   t.count("requests"),
			Incomplete: t.count("incomplete"),
		})
		s.wrong = s.wrong || t.wrong
	}
	return c
}

func setTokens(o *Obj, input, output, cacheRead, cacheWrite float64) {
	o.Set("input", NumberValue(input))
	o.Set("output", NumberValue(output))
	o.Set("cacheRead", NumberValue(cacheRead))
	o.Set("cacheWrite", NumberValue(cacheWrite))
}

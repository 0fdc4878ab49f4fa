package psm

import "errors"

var (
	// ErrBusy is a session that another worker summarises.
	ErrBusy = errors.New("another worker summarises the session")

	// ErrSummary is an answer of a summarizer that can't be taken.
	ErrSummary = errors.New("the summarizer's answer can't be used")
)

package main

import (
	"context"

	"github.com/gajae-code/gjc-index/index"
)

func (e exporting) archive(ctx context.Context, rows []index.Row, name string) error {
	return usagef("the format archive is not there yet")
}

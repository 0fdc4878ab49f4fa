package jsonl

import "runtime"

// heapUse is how many bytes were ever allocated.
func heapUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

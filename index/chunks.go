package index

// chunkLen is how many elements a chunk holds at most.
const chunkLen = 1024

// chunks is a list that grows without copying what it holds, so that the rows
// of a huge file need no more memory than they are.
type chunks[T any] struct {
	full [][]T // each of chunkLen elements
	last []T
}

func (c *chunks[T]) len() int { return len(c.full)*chunkLen + len(c.last) }

// at is the element at i; it stays where it is only until the next add.
func (c *chunks[T]) at(i int) *T {
	if k := i / chunkLen; k < len(c.full) {
		return &c.full[k][i%chunkLen]
	}
	return &c.last[i%chunkLen]
}

// drop gives back the memory of the chunk that ends with element i, if one does;
// none of its elements may be asked for again.
func (c *chunks[T]) drop(i int) {
	if i%chunkLen == chunkLen-1 && i/chunkLen < len(c.full) {
		c.full[i/chunkLen] = nil
	}
}

func (c *chunks[T]) add(v T) {
	if n := cap(c.last); len(c.last) == n { // append would make room for more than a chunk
		room := make([]T, len(c.last), min(max(8, 2*n), chunkLen))
		copy(room, c.last)
		c.last = room
	}
	c.last = append(c.last, v)
	if len(c.last) == chunkLen {
		c.full, c.last = append(c.full, c.last), nil
	}
}

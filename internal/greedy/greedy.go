// Package greedy selects items by value when taking one reduces the values of others.
package greedy

import "container/heap"

// Take calls take for the items 0 to n-1, the most valuable first and the earlier first among
// equals, until take returns false. Items with a value of 0 or less are not offered. Values must
// only fall while items are taken, because only the next item is revalued. A value within a
// thousandth of the old one counts as unchanged. It makes about n log n calls of value.
func Take(n int, value func(item int) float64, take func(item int) bool) {
	q := &queue{}
	for i := range n {
		if v := value(i); v > 0 {
			q.items = append(q.items, ranked{i, v})
		}
	}
	heap.Init(q)
	for q.Len() > 0 {
		top := q.items[0]
		switch v := value(top.item); {
		case v <= 0:
			heap.Pop(q)
		case v < top.value*0.999:
			q.items[0].value = v
			heap.Fix(q, 0)
		default:
			heap.Pop(q)
			if !take(top.item) {
				return
			}
		}
	}
}

type ranked struct {
	item  int
	value float64
}

// queue is a heap of items, the most valuable first.
type queue struct{ items []ranked }

func (q *queue) Len() int { return len(q.items) }
func (q *queue) Less(i, j int) bool {
	if q.items[i].value != q.items[j].value {
		return q.items[i].value > q.items[j].value
	}
	return q.items[i].item < q.items[j].item
}
func (q *queue) Swap(i, j int) { q.items[i], q.items[j] = q.items[j], q.items[i] }
func (q *queue) Push(v any)    { q.items = append(q.items, v.(ranked)) }
func (q *queue) Pop() any {
	last := q.items[len(q.items)-1]
	q.items = q.items[:len(q.items)-1]
	return last
}

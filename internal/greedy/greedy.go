// Package greedy takes items by their value, the most valuable first, where taking one makes others worth less.
package greedy

import "container/heap"

// Take offers the items 0 to n-1 to take, those of the most value first and the earlier ones first among equals, until none is left
// or take returns false. An item of no value, 0 or less, is not offered. The value of an item must only fall while others are
// taken: it is asked anew only for the item that is next. A value that is within a thousandth of what it was counts as the
// same. n items take about n log n calls of value.
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

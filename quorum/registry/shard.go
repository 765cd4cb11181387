package registry

import "sync"

// What is to be noted is on the way of each command that takes a lock, and mostly about a key that is
// in no cache: one look at its bucket waits for memory, longer than all the rest takes (.45 of .7 us,
// where 50 clients lock a million keys), most of all to find out where its page is. So what comes is
// written down in a row, and put into the buckets many at a time, page by page.

const (
	shardBits = 4
	shards    = 1 << shardBits
	maxNoted  = 512
	maxPages  = 128 // of a shard of DefaultLocks
)

// shard has the keys whose hashes have the same highest bits.
type shard struct {
	mu      sync.Mutex // guards what follows
	noted   []holding  // the latest, which the buckets do not tell yet; room for maxNoted
	order   [maxNoted]uint16
	buckets []bucket // a power of two
	warm    uint32   // says nothing
	top     top
}

func (s *shard) bucket(key uint64) *bucket { return &s.buckets[key&uint64(len(s.buckets)-1)] }

// page is where a key's bucket is, in pages of eight buckets, which are 4 KiB.
func (s *shard) page(key uint64) int { return int(key&uint64(len(s.buckets)-1)) >> 3 % maxPages }

// note is to be followed by settle before anybody looks. mu is held.
func (s *shard) note(h uint64, a *Act) {
	s.noted = append(s.noted, holding{
		key: h, signs: a.Signs, by: a.By, since: a.At, until: a.until(), ttl: briefTTLOf(a.TTL), votes: a.Votes, what: a.What, db: uint8(a.DB),
	})
	if len(s.noted) == maxNoted {
		s.settle()
	}
}

// settle puts what was noted into the buckets. Of one key what came first is put first. mu is held.
func (s *shard) settle() {
	if len(s.noted) == 0 {
		return
	}
	order := s.byPage()
	warm := uint32(0)
	for _, i := range order {
		warm |= s.bucket(s.noted[i].key).tags[0] // none of these waits for another one
	}
	s.warm = warm
	for _, i := range order {
		s.bucket(s.noted[i].key).note(&s.noted[i])
	}
	s.noted = s.noted[:0]
}

// byPage is what was noted in the order of pages, and of one page in its own.
func (s *shard) byPage() []uint16 {
	var begins [maxPages + 1]uint16
	for i := range s.noted {
		begins[s.page(s.noted[i].key)+1]++
	}
	for p := range maxPages {
		begins[p+1] += begins[p]
	}
	for i := range s.noted {
		p := s.page(s.noted[i].key)
		s.order[begins[p]] = uint16(i)
		begins[p]++
	}
	return s.order[:len(s.noted)]
}

package clock

import (
	"context"
	"time"
)

// Pause returns when so much time has passed, or the context is done.
func Pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

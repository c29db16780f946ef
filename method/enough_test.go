package method

import (
	"errors"
	"testing"

	"github.com/heatwalk/heatwalk/budget"
	"github.com/heatwalk/heatwalk/test/contract"
)

// TestEnoughMemory checks that the amount of memory that a refusal names is enough, with many classes.
func TestEnoughMemory(t *testing.T) {
	p := contract.Planted(t, 3, 2000, 400)
	p.Names = make([]string, 200)
	for i := range p.Class {
		p.Class[i] = i % len(p.Names)
	}
	for _, name := range []string{"auto", "lp", "lgc", "wvrn", "rl", "cwk", "cwk+gp", "diffusion", "diffusion+rls"} {
		entries, err := Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err = Settle(t.Context(), entries, "small"); err != nil {
			t.Fatal(err)
		}
		set := *entries[0].Settings
		for set.Memory = 1 << 20; ; set.Memory *= 2 {
			_, err := entries[0].Method.Bytes(p, nil, &set)
			over := new(budget.Error)
			if !errors.As(err, &over) {
				break
			}
			for _, enough := range []int64{over.Need, over.Need + over.Need/100, over.Need + over.Need/8} {
				larger := set
				larger.Memory = enough
				if _, err := entries[0].Method.Bytes(p, nil, &larger); err != nil {
					t.Errorf("%s within %d: %v: %d: %v", name, set.Memory, over, enough, err)
				}
			}
		}
	}
}

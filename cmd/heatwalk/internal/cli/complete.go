package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/heatwalk/heatwalk/cmd/heatwalk/internal/shell"
	"github.com/heatwalk/heatwalk/kernel"
	"github.com/heatwalk/heatwalk/method/items"
)

// completeValues lets shells complete the values of flags that accept words or names, and the argument of
// methods.
func completeValues(cmd *cobra.Command) {
	addValues := func(f *pflag.Flag) {
		accepted := shell.WordsOf(f)
		if accepted == nil && !slices.Contains(strings.Fields("method kernel learner function"), f.Name) {
			return
		}
		_ = cmd.RegisterFlagCompletionFunc(f.Name, func(cmd *cobra.Command, _ []string, text string) ([]string, cobra.ShellCompDirective) {
			list := namesAfter(cmd, f.Name, text)
			if accepted != nil {
				list = slices.Clone(accepted)
			}
			list = slices.DeleteFunc(list,
				func(name string) bool { return !strings.HasPrefix(name, text) })
			return list, cobra.ShellCompDirectiveNoFileComp
		}) // cannot fail: the flag exists
	}
	if cmd.Name() == "methods" {
		for _, d := range declarations() {
			cmd.ValidArgs = append(cmd.ValidArgs, d.Name+"\t"+d.Formula)
		}
	}
	cmd.LocalNonPersistentFlags().VisitAll(addValues)
	cmd.PersistentFlags().VisitAll(addValues)
	for _, c := range cmd.Commands() {
		completeValues(c)
	}
}

// namesAfter returns the names, with their formulas, that can complete text, the value of a flag so far.
// The names are of methods, kernels, learners or functions. After a comma in text a new name begins, and
// after + the name of a learner.
func namesAfter(cmd *cobra.Command, flag, text string) (list []string) {
	if flag == "function" {
		for _, s := range kernel.FunctionSpecs() {
			list = append(list, s.Name+"\t"+s.Title)
		}
		return list
	}
	path := strings.Fields(cmd.CommandPath())
	isRegress := path[1] == "regress"
	kernels := "kernel"
	if items.Find(path[1]) != nil {
		kernels = path[1] + " kernel"
	}
	end := strings.LastIndexAny(text, ",+") + 1
	isBehindKernel := strings.HasSuffix(text[:end], "+")
	for _, d := range declarations() {
		isMeant := false
		switch d.Flag {
		case "--method":
			isMeant = flag == "method" && (d.Command == "regress") == isRegress &&
				(d.prefix != "") == isBehindKernel
		case "--kernel":
			isMeant = flag != "learner" && d.Command == kernels && !isBehindKernel
		case "--learner":
			isMeant = flag == "learner" || isBehindKernel && !isRegress
		}
		if isMeant {
			list = append(list, text[:end]+d.Name+"\t"+d.Formula)
		}
	}
	return list
}

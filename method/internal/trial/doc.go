// Package trial tries learners on rows of collected walks: a [Tester] fits models of
// every length of walks and every setting to the training rows of a [Trial] and counts
// how often they are right on its test rows. [Cross] and [LeftOut]
// say on the values of a kernel what models answer to items that they have not learned
// from, [Tests] counts right answers on test nodes of splits. [Along] and [Each] fit settings on a
// path and each by itself. [Votes] turns decisions of machines into scores.
package trial

// Package trial tries machines on rows of collected walks: a [Tester] fits machines of
// every length of walks and every strength to the training rows of a [Trial] and counts
// how often they are right on its test rows. [Cross] and [LeftOut]
// say on the values of a kernel what machines answer to items that they have not learned
// from, [Tests] counts right answers on test nodes of splits. [Votes] turns decisions of machines into
// scores.
package trial

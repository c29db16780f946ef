// Package trial tries machines on rows of collected walks: a [Tester] fits machines of
// every length of walks and every strength to the training rows of a [Trial] and counts
// how often they are right on its test rows. [Votes] turns decisions of machines into
// scores.
package trial

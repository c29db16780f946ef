// Package lint tests the house: imports point downwards, the code of each wing is within its budget, texts are plain
// English, and names, links and numbers in the pages of documentation are true.
package lint

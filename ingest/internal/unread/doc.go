// Package unread knows graph formats that are not read, and what to do with such files.
package unread

// Package house holds the tests of the house rules: which package may import
// which, that every exported name is documented, and how long files may be.
package house

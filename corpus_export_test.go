package winnow

// AllRecorded is for tests outside of the package.
var AllRecorded = allRecorded

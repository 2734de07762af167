"""Files and data frames -> validated tables. The only readers in the package."""

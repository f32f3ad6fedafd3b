-- Functions of DuckDB that Spark lacks, under the names of DuckDB, for the SQL that both run.

create temporary function unnest(list array<string>) returns table (value string) return select explode(list);

create temporary function regexp_matches(given string, pattern string) returns boolean return given rlike pattern;

CREATE TABLE `revocation_lists` (
	`uri` text NOT NULL,
	`media` text NOT NULL,
	`bytes` blob NOT NULL,
	`issued_at` integer NOT NULL,
	`ends_at` integer,
	`ttl_ms` integer,
	`fetched_at` integer NOT NULL,
	`seen_at` integer NOT NULL,
	`due_at` integer NOT NULL,
	`wanted` integer NOT NULL,
	`brought_by` text NOT NULL,
	PRIMARY KEY(`uri`, `media`)
);


CREATE TABLE `portraits` (
	`verification_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`kept_until` integer NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL,
	PRIMARY KEY(`verification_id`, `tenant_id`),
	FOREIGN KEY (`verification_id`,`tenant_id`) REFERENCES `verification_sessions`(`id`,`tenant_id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `portraits_until` ON `portraits` (`kept_until`);--> statement-breakpoint
ALTER TABLE `templates` ADD `live_since` integer;--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `sealed_query` blob;
CREATE TABLE `source_days` (
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`day` text NOT NULL,
	`template` text NOT NULL,
	`device_id` text NOT NULL,
	`kind` text NOT NULL,
	`count` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `environment`, `day`, `template`, `device_id`, `kind`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `beginnings` blob;--> statement-breakpoint
CREATE INDEX `verification_sessions_beginnings` ON `verification_sessions` (`tenant_id`,`environment`,`created_at`,`beginnings`) WHERE beginnings IS NOT NULL;

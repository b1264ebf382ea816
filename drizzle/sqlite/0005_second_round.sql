CREATE TABLE `webhook_endpoints` (
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `environment`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
ALTER TABLE `template_versions` ADD `rules` text;--> statement-breakpoint
ALTER TABLE `templates` ADD `rules` text;--> statement-breakpoint
ALTER TABLE `templates` ADD `purpose` text;--> statement-breakpoint
ALTER TABLE `tenants` ADD `app_schemes` text;--> statement-breakpoint
ALTER TABLE `trust_anchors` ADD `crl` text;--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `release` text;--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `answered_from` text;--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `page_owner_hash` text;--> statement-breakpoint
ALTER TABLE `webhook_secrets` ADD `environment` text DEFAULT 'live' NOT NULL;--> statement-breakpoint
UPDATE `trust_anchors` SET `mode` = 'auto' WHERE `mode` = 'pkix' AND (`trusted_for` IS NULL OR `trusted_for` LIKE 'org.iso.23220.%photoid.%');
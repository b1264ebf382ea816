CREATE TABLE `tenant_origins` (
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`origin` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `environment`, `origin`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `sealed_dc_requests` blob;
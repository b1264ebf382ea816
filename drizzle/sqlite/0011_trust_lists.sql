CREATE TABLE `bundle_signers` (
	`fingerprint` text PRIMARY KEY NOT NULL,
	`label` text NOT NULL,
	`last_made_at` integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE `go_live` (
	`tenant_id` text PRIMARY KEY NOT NULL,
	`documents` text NOT NULL,
	`first_test_at` integer,
	`first_live_at` integer,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `registration_certificates` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text,
	`jwt` text NOT NULL,
	`subject` text NOT NULL,
	`intended_use` text,
	`purposes` text NOT NULL,
	`credentials` text NOT NULL,
	`not_before` integer,
	`not_after` integer,
	`status` text,
	`templates` text NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `trust_blocks` (
	`environment` text NOT NULL,
	`fingerprint` text NOT NULL,
	`reason` text NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`environment`, `fingerprint`)
);
--> statement-breakpoint
CREATE TABLE `trust_lists` (
	`source_id` text PRIMARY KEY NOT NULL,
	`bytes` blob NOT NULL,
	FOREIGN KEY (`source_id`) REFERENCES `trust_sources`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `trust_source_pins` (
	`source_id` text NOT NULL,
	`fingerprint` text NOT NULL,
	`certificate` text,
	`added_at` integer NOT NULL,
	PRIMARY KEY(`source_id`, `fingerprint`),
	FOREIGN KEY (`source_id`) REFERENCES `trust_sources`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `trust_sources` (
	`id` text PRIMARY KEY NOT NULL,
	`environment` text NOT NULL,
	`kind` text NOT NULL,
	`use` text NOT NULL,
	`label` text NOT NULL,
	`preset` text,
	`location` text,
	`types` text,
	`service_type` text,
	`mode` text,
	`every_ms` integer NOT NULL,
	`grace_ms` integer NOT NULL,
	`identity` text NOT NULL,
	`name` text NOT NULL,
	`sequence` integer,
	`issued_at` integer NOT NULL,
	`next_update` integer,
	`digest` text NOT NULL,
	`signer` text NOT NULL,
	`announced` text NOT NULL,
	`accepted_at` integer NOT NULL,
	`skipped` text NOT NULL,
	`difference` text,
	`checked_at` integer NOT NULL,
	`etag` text,
	`failure` text,
	`failure_detail` text,
	`failing_since` integer,
	`failures` integer NOT NULL,
	`due_at` integer NOT NULL,
	`warned_at` integer,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
ALTER TABLE `signing_keys` ADD `tenant_id` text REFERENCES tenants(id);--> statement-breakpoint
ALTER TABLE `signing_keys` ADD `starts_at` integer;--> statement-breakpoint
ALTER TABLE `trust_anchors` ADD `source_id` text REFERENCES trust_sources(id);--> statement-breakpoint
ALTER TABLE `trust_anchors` ADD `use` text;--> statement-breakpoint
ALTER TABLE `trust_anchors` ADD `entity` text;--> statement-breakpoint
ALTER TABLE `trust_anchors` ADD `country` text;--> statement-breakpoint
ALTER TABLE `trust_anchors` ADD `since` integer;
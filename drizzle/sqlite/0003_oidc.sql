CREATE TABLE `oidc_client_secrets` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`client_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`hash` text NOT NULL,
	`prefix` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	FOREIGN KEY (`client_id`,`tenant_id`) REFERENCES `oidc_clients`(`id`,`tenant_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `oidc_client_secrets_client` ON `oidc_client_secrets` (`client_id`);--> statement-breakpoint
CREATE TABLE `oidc_clients` (
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`name` text NOT NULL,
	`redirect_uris` text NOT NULL,
	`templates` text NOT NULL,
	`auth` text NOT NULL,
	`id_token_alg` text NOT NULL,
	`pkce` text NOT NULL,
	`subject` text NOT NULL,
	`purpose` text,
	`id_token_claims` integer NOT NULL,
	`cross_device` text NOT NULL,
	`logins_per_hour` integer NOT NULL,
	`keep_results` integer NOT NULL,
	`created_at` integer NOT NULL,
	`last_login_at` integer,
	`last_refusal` text,
	PRIMARY KEY(`id`, `tenant_id`),
	FOREIGN KEY (`tenant_id`,`environment`) REFERENCES `oidc_issuers`(`tenant_id`,`environment`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `oidc_clients_issuer` ON `oidc_clients` (`tenant_id`,`environment`);--> statement-breakpoint
CREATE TABLE `oidc_issuers` (
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `environment`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE TABLE `oidc_keys` (
	`kid` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`environment` text NOT NULL,
	`alg` text NOT NULL,
	`public_jwk` text NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL,
	`use_from` integer NOT NULL,
	`use_until` integer,
	`remove_at` integer,
	FOREIGN KEY (`tenant_id`,`environment`) REFERENCES `oidc_issuers`(`tenant_id`,`environment`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `oidc_keys_issuer` ON `oidc_keys` (`tenant_id`,`environment`);--> statement-breakpoint
CREATE TABLE `oidc_logins` (
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`verification_id` text NOT NULL,
	`client_id` text NOT NULL,
	`subject` text NOT NULL,
	`created_at` integer NOT NULL,
	`browser_hash` text NOT NULL,
	`salt` blob NOT NULL,
	`sealed` blob NOT NULL,
	`sealed_sub` blob,
	`code_hash` text,
	`code_expires_at` integer,
	`code_used_at` integer,
	`token_hash` text,
	`token_expires_at` integer,
	`token_revoked_at` integer,
	`ended_at` integer,
	PRIMARY KEY(`id`, `tenant_id`),
	FOREIGN KEY (`verification_id`,`tenant_id`) REFERENCES `verification_sessions`(`id`,`tenant_id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE UNIQUE INDEX `oidc_logins_verification` ON `oidc_logins` (`verification_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `oidc_logins_code` ON `oidc_logins` (`code_hash`) WHERE code_hash IS NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX `oidc_logins_token` ON `oidc_logins` (`token_hash`) WHERE token_hash IS NOT NULL;--> statement-breakpoint
ALTER TABLE `trust_anchors` ADD `lineage` text;--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `login_client_id` text;--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `is_same_device` integer;--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `erase_after` integer;--> statement-breakpoint
CREATE INDEX `verification_sessions_erased` ON `verification_sessions` (`created_at`) WHERE erase_after IS NOT NULL;

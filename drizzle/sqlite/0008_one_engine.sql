DROP INDEX `webhook_deliveries_newest`;--> statement-breakpoint
ALTER TABLE `webhook_deliveries` ADD `environment` text DEFAULT 'live' NOT NULL;--> statement-breakpoint
ALTER TABLE `webhook_deliveries` ADD `leased_by` text;--> statement-breakpoint
UPDATE `webhook_deliveries` SET environment = 'test' WHERE verification_id IN (SELECT id FROM `verification_sessions` WHERE environment = 'test');--> statement-breakpoint
CREATE INDEX `webhook_deliveries_newest` ON `webhook_deliveries` (`tenant_id`,`environment`,`created_at`);--> statement-breakpoint
ALTER TABLE `api_keys` ADD `successor_id` text;--> statement-breakpoint
UPDATE `api_keys` SET successor_id = (SELECT s.id FROM `api_keys` AS s WHERE s.id <> api_keys.id AND s.tenant_id = api_keys.tenant_id AND s.environment = api_keys.environment AND s.label = api_keys.label AND s.created_at IN (api_keys.expires_at, api_keys.expires_at - 3600000, api_keys.expires_at - 86400000, api_keys.expires_at - 604800000) ORDER BY s.created_at LIMIT 1) WHERE expires_at - created_at NOT IN (2592000000, 7776000000, 31536000000);--> statement-breakpoint
ALTER TABLE `idempotency_keys` ADD `claimed_by` text;--> statement-breakpoint
ALTER TABLE `idempotency_keys` ADD `claimed_until` integer;--> statement-breakpoint
ALTER TABLE `usage_days` ADD `newest_at` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `usage_days` SET newest_at = max(coalesce((SELECT max(created_at) FROM `verification_sessions` AS s WHERE s.tenant_id = usage_days.tenant_id AND s.environment = 'test'), 0), coalesce((SELECT max(created_at) FROM `verification_sessions` AS s WHERE s.tenant_id = usage_days.tenant_id AND s.environment = 'live'), 0)) WHERE day = (SELECT max(day) FROM `usage_days` AS u WHERE u.tenant_id = usage_days.tenant_id);--> statement-breakpoint
DELETE FROM `verification_events` WHERE event = 'qr_shown' AND id NOT IN (SELECT min(id) FROM `verification_events` WHERE event = 'qr_shown' GROUP BY verification_id);--> statement-breakpoint
CREATE UNIQUE INDEX `verification_events_shown` ON `verification_events` (`verification_id`) WHERE event = 'qr_shown';
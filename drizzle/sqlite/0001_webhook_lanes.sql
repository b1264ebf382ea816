DROP INDEX `webhook_deliveries_due`;--> statement-breakpoint
ALTER TABLE `webhook_deliveries` ADD `lane` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `webhook_deliveries_lane` ON `webhook_deliveries` (`lane`,`tenant_id`,`due_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE INDEX `webhook_deliveries_newest` ON `webhook_deliveries` (`tenant_id`,`created_at`);
CREATE INDEX `audit_records_action` ON `audit_records` (`action`) WHERE action NOT IN ('verification.created', 'verification.completed', 'verification.failed');--> statement-breakpoint
CREATE INDEX `audit_records_actor` ON `audit_records` (`actor`,`tenant_id`) WHERE substr(actor, 1, 10) IN ('dashboard:', 'command li');--> statement-breakpoint
CREATE INDEX `audit_records_subject` ON `audit_records` (`subject`) WHERE action NOT IN ('verification.created', 'verification.completed', 'verification.failed');

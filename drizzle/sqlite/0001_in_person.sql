ALTER TABLE `devices` ADD `ways` text;--> statement-breakpoint
ALTER TABLE `verification_sessions` ADD `sealed_in_person` blob;

ALTER TABLE `go_live` ADD `retention_chosen_at` integer;

ALTER TABLE `templates` ADD `translations` text;

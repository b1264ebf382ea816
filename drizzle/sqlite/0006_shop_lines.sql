ALTER TABLE `tenant_looks` ADD `without_wallet` text;

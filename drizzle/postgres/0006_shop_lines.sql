ALTER TABLE "tenant_looks" ADD COLUMN "without_wallet" text COLLATE "C";

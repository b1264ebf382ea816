import { defineConfig } from 'drizzle-kit'

// `bun run migration` writes for SQLite; with VIDIMUS_DATABASE_URL=postgres: it writes for PostgreSQL.
const isPostgres = process.env.VIDIMUS_DATABASE_URL?.startsWith('postgres') === true

export default defineConfig({
  dialect: isPostgres ? 'postgresql' : 'sqlite',
  schema: isPostgres ? './src/db/schema.ts' : ['./src/db/schema.ts', './src/db/portrait-table.ts'],
  out: isPostgres ? './drizzle/postgres' : './drizzle/sqlite',
})

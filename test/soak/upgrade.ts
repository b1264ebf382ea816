// The steps of scripts/deploy/compose.yml done by hand: PostgreSQL, two nodes, nginx with the deployed configuration. Amid
// clients that repeat what was not answered, a node is killed and comes back, and then each node in turn is stopped and
// replaced, as in a rolling upgrade. `bun test/soak/upgrade.ts [--seed N] [--minutes M]`
import { startCluster, stopClusters } from '../helpers/cluster.ts'

const cluster = await startCluster()
// Tables are made when modules load: everything that touches them is loaded after this.
process.env.VIDIMUS_DATABASE_URL = cluster.url()
const { soakUpgrade } = await import('./nodes/upgrade.ts')
const code = await soakUpgrade(cluster)
await stopClusters()
process.exit(code)

// Two nodes on one PostgreSQL, behind a balancer without stickiness, amid a mixed load: nodes are killed and frozen,
// the database is killed, connections are cut. `bun test/soak/nodes.ts [--seed N] [--minutes M] [--only freeze_node]`
import { startCluster, stopClusters } from '../helpers/cluster.ts'

const cluster = await startCluster()
// Tables are made when modules load: everything that touches them is loaded after this.
process.env.VIDIMUS_DATABASE_URL = cluster.url()
const { soakNodes } = await import('./nodes/soak.ts')
const code = await soakNodes(cluster)
await stopClusters()
process.exit(code)

// Argon2id at its real cost takes a quarter of a second: thousands of log-ins would take minutes. The runtime's function is given the smallest
// cost there is; a hash of the real cost, which only nobody has, is answered at once.
const { hash, verify } = Bun.password

Bun.password.hash = (password, options) =>
  hash(password, typeof options === 'object' ? { algorithm: 'argon2id', memoryCost: 8, timeCost: 1 } : options)

Bun.password.verify = async (password, kept, ...rest) =>
  String(kept).includes('m=65536') ? false : await verify(password, kept, ...rest)

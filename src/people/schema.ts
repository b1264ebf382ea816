// Requests and responses of log-in, sessions and users.
import { Type } from '@sinclair/typebox'
import { Text, Timestamp } from '../http/schema.ts'
import { Exactly, ListOf, Nullable, OneOf } from '../http/wire.ts'
import { ROLES } from './role.ts'
import { PasskeyAnswer } from './security-schema.ts'

export const PASSWORD_CHARS = { minLength: 15, maxLength: 128 }

/** Lower case, because phone keyboards capitalise the first letter. */
export const USER_NAME = '^[a-z0-9][a-z0-9._@+-]{1,63}$'
const UserName = Type.String({ pattern: USER_NAME, examples: ['alex', 'alex@shop.example'] })
const OneTimeToken = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' })
/** Only bounded here: password-rules.ts checks it and gives the reason. */
const Password = Text({ minLength: 1, maxLength: 1024 })

export const Entrance = Exactly({
  /** `true` while nobody can log in: the service printed a set-up link when it started. */
  needs_setup: Type.Boolean(),
  /** `false` when this client's plain http connection is not safe for a password. */
  accepts_passwords: Type.Boolean(),
  /** The origin that passkeys work at, if any. */
  passkey_origin: Nullable(Type.String()),
})

export const OneTimeLink = Exactly({ token: OneTimeToken })
export const OneTimeLinkState = Exactly({
  kind: OneOf('setup', 'invitation', 'reset'),
  /** The user who chooses a password; absent for the set-up, where the name is chosen too. */
  name: Type.Optional(Type.String()),
  expires_at: Timestamp,
})

export const SetUp = Exactly({ token: OneTimeToken, name: UserName, password: Password })
export const ChoosePassword = Exactly({ token: OneTimeToken, password: Password })
export const LogIn = Exactly({ name: Text({ minLength: 1, maxLength: 128 }), password: Password })
/** Exactly one of the three. */
export const Reauthenticate = Exactly({
  password: Type.Optional(Password),
  code: Type.Optional(Text({ minLength: 6, maxLength: 32 })),
  passkey: Type.Optional(PasskeyAnswer),
})
export const ChangePassword = Exactly({ password: Password, new_password: Password })

const TenantSummary = Exactly({ id: Type.String(), name: Type.String() })

const RoleOf = OneOf(...ROLES)

export const Session = Exactly({
  user: Exactly({ id: Type.String(), name: Type.String(), is_owner: Type.Boolean(), role: RoleOf }),
  /** All tenants for an owner; one for everybody else. */
  tenants: Type.Array(
    Exactly({ ...TenantSummary.properties, /** Its first live verification was completed. */ is_live: Type.Boolean() }),
  ),
  /** `true`: nothing works before the user has set one up. */
  needs_second_factor: Type.Boolean(),
  /** Sent as `X-CSRF-Token` with every request that changes something. */
  csrf_token: Type.String(),
  /** The latest end. Half an hour without use ends it earlier. */
  expires_at: Timestamp,
  idle_expires_at: Timestamp,
  /** The user need not prove their identity again before; for Test it counts for an hour. */
  fresh_until: Timestamp,
})
export type Session = typeof Session.static

export const OpenSessions = ListOf(
  Exactly({
    id: Type.String(),
    is_current: Type.Boolean(),
    /** The User-Agent header, shortened. */
    agent: Type.String(),
    created_at: Timestamp,
    last_seen_at: Timestamp,
    expires_at: Timestamp,
  }),
)

export const User = Exactly({
  id: Type.String(),
  name: Type.String(),
  /** Null for an owner, who sees all tenants. */
  tenant: Nullable(TenantSummary),
  role: RoleOf,
  has_second_factor: Type.Boolean(),
  status: OneOf('invited', 'active'),
  created_at: Timestamp,
  last_login_at: Type.Optional(Timestamp),
})
export type User = typeof User.static
export const UserList = ListOf(User)
/** An owner has no tenant; everybody else has one, and is a member unless it says otherwise. */
export const InviteUser = Exactly({
  name: UserName,
  tenant: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
  role: Type.Optional(RoleOf),
})
export type InviteUser = typeof InviteUser.static
export const ChangeRole = Exactly({ role: RoleOf })
/** The link is shown once, and must reach its user by a safe way. */
export const UserLink = Exactly({ user: User, url: Type.String(), expires_at: Timestamp })

import { useState } from 'preact/hooks'
import type { User, UserLink } from '../../../dashboard/schema.ts'
import { Badge } from '../../shared/badge.tsx'
import { Button } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Field, Select } from '../../shared/field.tsx'
import { Icon } from '../../shared/icons.tsx'
import { useCommon } from '../../shared/language.tsx'
import { Secret } from '../../shared/secret.tsx'
import { Table } from '../../shared/table.tsx'
import { Time } from '../../shared/time.tsx'
import { useAction } from '../action.ts'
import { Confirm } from '../confirm.tsx'
import { useData } from '../data.ts'
import { useFormat } from '../format.ts'
import { Loaded } from '../loaded.tsx'
import { Problem } from '../problem.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'

type Linked = typeof UserLink.static

/** Who may come in, and to what. */
export function PeopleSettings() {
  const words = useDashboardWords().settings
  const { call } = useSession()
  const data = useData<{ data: User[] }>('users')
  const [isInviting, setIsInviting] = useState(false)
  const [linked, setLinked] = useState<Linked>()
  const [removed, setRemoved] = useState<User>()
  const close = () => {
    setIsInviting(false)
    setLinked(undefined)
    setRemoved(undefined)
    data.reload()
  }
  const renewLink = useAction(async ({ id }: User) => setLinked(await call<Linked>(`users/${id}/reset`, { method: 'POST' })))
  return (
    <>
      <div class="section-header">
        <p class="secondary">{words.peopleMore}</p>
        <Button kind="primary" onClick={() => setIsInviting(true)}>
          <Icon name="plus" />
          {words.invite}
        </Button>
      </div>
      <Problem of={renewLink.problem} />
      <Loaded data={data}>{({ data: users }) => <UserTable users={users} onLink={renewLink.run} onRemove={setRemoved} />}</Loaded>
      {isInviting && !linked && <InviteDialog onClose={close} onInvited={setLinked} />}
      {linked && <LinkDialog linked={linked} onClose={close} />}
      {removed && (
        <Confirm
          title={words.removeUserTitle(removed.name)}
          name={removed.name}
          verb={words.removeUserDo}
          onClose={close}
          onConfirm={async () => {
            await call(`users/${removed.id}`, { method: 'DELETE' })
            close()
          }}
        >
          {words.removeUserMore}
        </Confirm>
      )}
    </>
  )
}

type TableProps = { users: readonly User[]; onLink: (user: User) => void; onRemove: (user: User) => void }

function UserTable({ users, onLink, onRemove }: TableProps) {
  const words = useDashboardWords()
  const { session } = useSession()
  return (
    <Table
      caption={words.settings.people}
      columns={[
        {
          title: words.settings.userName,
          kind: 'wraps',
          cell: user => (
            <>
              <strong>{user.name}</strong> {user.id === session.user.id && <Badge>{words.settings.yourself}</Badge>}
              <span class="below">{user.tenant?.name ?? words.settings.ownerOf}</span>
              <span class="below extras">
                {words.settings.lastLogin}: {user.last_login_at ? <Time at={user.last_login_at} /> : words.never}
              </span>
              <span class="below extras">
                <UserBadge status={user.status} />
              </span>
            </>
          ),
        },
        {
          title: <span class="minor">{words.settings.shopOf}</span>,
          cell: user => <span class="minor">{user.tenant?.name ?? words.settings.ownerOf}</span>,
        },
        {
          title: <span class="extra">{words.settings.status}</span>,
          cell: user => (
            <span class="extra">
              <UserBadge status={user.status} />
            </span>
          ),
        },
        {
          title: <span class="extra">{words.settings.lastLogin}</span>,
          cell: user => <span class="extra">{user.last_login_at ? <Time at={user.last_login_at} /> : words.never}</span>,
        },
        {
          title: <span class="only-heard">{words.keys.actions}</span>,
          kind: 'number',
          cell: user => (
            <span class="row-actions">
              <button
                type="button"
                class="row-button"
                aria-label={`${words.settings.resetLink}: ${user.name}`}
                onClick={() => onLink(user)}
              >
                {words.settings.resetLink}
              </button>
              {user.id !== session.user.id && (
                <button
                  type="button"
                  class="row-button danger"
                  aria-label={`${words.settings.removeUser}: ${user.name}`}
                  onClick={() => onRemove(user)}
                >
                  {words.settings.removeUser}
                </button>
              )}
            </span>
          ),
        },
      ]}
      rows={users}
      keyOf={({ id }) => id}
    />
  )
}

function UserBadge({ status }: Pick<User, 'status'>) {
  return <Badge tone={status === 'active' ? 'ok' : 'wait'}>{useDashboardWords().settings.userStatuses[status]}</Badge>
}

function InviteDialog({ onClose, onInvited }: { onClose: () => void; onInvited: (linked: Linked) => void }) {
  const words = useDashboardWords()
  const common = useCommon()
  const { session, call } = useSession()
  const place = usePlace()
  const [name, setName] = useState('')
  const [tenant, setTenant] = useState(place.tenant.id)
  const invite = useAction(async () => onInvited(await call<Linked>('users', { method: 'POST', body: { name, tenant } })))
  return (
    <Dialog title={words.settings.inviteTitle} onClose={onClose}>
      <form class="stack" onSubmit={invite.submit}>
        <Field
          label={words.settings.userName}
          hint={words.entrance.nameHint}
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          required
          autofocus
          pattern="[a-z0-9][a-z0-9._@+\-]{1,63}"
          value={name}
          onInput={event => setName(event.currentTarget.value.toLowerCase())}
        />
        <Select label={words.settings.shopOf} value={tenant} onChange={event => setTenant(event.currentTarget.value)}>
          {session.tenants.map(each => (
            <option key={each.id} value={each.id}>
              {each.name}
            </option>
          ))}
        </Select>
        <Problem of={invite.problem} />
        <div class="row end">
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" type="submit" busy={invite.isBusy}>
            {words.settings.inviteDo}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** The only moment the link exists. */
function LinkDialog({ linked: { user, url, expires_at }, onClose }: { linked: Linked; onClose: () => void }) {
  const words = useDashboardWords()
  const common = useCommon()
  const { time } = useFormat()
  return (
    <Dialog title={words.settings.linkTitle(user.name)} holds onClose={onClose}>
      <div class="stack">
        <p class="secondary">{words.settings.linkMore(user.name)}</p>
        <Secret text={url} label={words.settings.link} />
        <p class="hint">{words.settings.linkUntil(time(expires_at))}</p>
        <div class="row end">
          <Button kind="primary" onClick={onClose}>
            {common.haveCopied}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

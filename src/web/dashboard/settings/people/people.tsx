import { useState } from 'preact/hooks'
import type { User, UserLink } from '../../../../people/schema.ts'
import type { Security } from '../../../../people/security-schema.ts'
import { Badge } from '../../../kit/badge.tsx'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { Dialog } from '../../../kit/dialog.tsx'
import { Check, Select } from '../../../kit/field.tsx'
import { Icon } from '../../../kit/icons.tsx'
import { Notice } from '../../../kit/notice.tsx'
import { LeadsHere } from '../../../kit/qr.tsx'
import { CopiedButton, Secret } from '../../../kit/secret.tsx'
import { Table } from '../../../kit/table.tsx'
import { Time } from '../../../shared/time.tsx'
import { useAction } from '../../action.ts'
import { useData } from '../../data.ts'
import { NewUserName } from '../../entrance/new-password.tsx'
import { useFormat } from '../../format.ts'
import { Confirm } from '../../parts/confirm.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Saved } from '../../parts/saved.tsx'
import { usePlace, useSession } from '../../session.tsx'
import { useDashboardWords } from '../../words.ts'
import { MailLink } from '../mail/mail-link.tsx'
import { SettingsPage } from '../settings-page.tsx'
import { usePeopleWords } from './words.ts'

type Linked = typeof UserLink.static

/** The users, and the shop each of them may see. */
export function PeopleSettings() {
  const words = usePeopleWords()
  const { nav } = useDashboardWords()
  const { call } = useSession()
  const data = useData<{ data: User[] }>('users')
  const [isInviting, setIsInviting] = useState(false)
  const [linked, setLinked] = useState<Linked>()
  const [removed, setRemoved] = useState<User>()
  const [changed, setChanged] = useState<User>()
  const close = () => {
    setChanged(undefined)
    setIsInviting(false)
    setLinked(undefined)
    setRemoved(undefined)
    data.reload()
  }
  const renewLink = useAction(async ({ id }: User) => setLinked(await call<Linked>(`users/${id}/reset`, { method: 'POST' })))
  return (
    <SettingsPage
      title={nav['settings/people']}
      intro={words.peopleMore}
      actions={
        <Button kind="primary" onClick={() => setIsInviting(true)}>
          <Icon name="plus" />
          {words.invite}
        </Button>
      }
    >
      <Problem of={renewLink.problem} />
      <Loaded data={data}>
        {({ data: users }) => <UserTable users={users} onLink={renewLink.run} onRole={setChanged} onRemove={setRemoved} />}
      </Loaded>
      <Rule />
      {isInviting && !linked && <InviteDialog onClose={close} onInvited={setLinked} />}
      {changed && <RoleDialog user={changed} onClose={close} />}
      {linked && <LinkDialog linked={linked} onClose={close} />}
      {removed && (
        <Confirm
          title={words.removeUserTitle(removed.name)}
          name={removed.name}
          verb={words.removeUserDo}
          onClose={close}
          onConfirm={() => call(`users/${removed.id}`, { method: 'DELETE' }).then(close)}
        >
          {words.removeUserMore}
        </Confirm>
      )}
    </SettingsPage>
  )
}

/** Whether everybody needs a second factor. */
function Rule() {
  const words = usePeopleWords()
  const { call, renew } = useSession()
  const data = useData<Security>('security')
  const [isSaved, setIsSaved] = useState(false)
  const save = useAction(async (is_required: boolean) => {
    setIsSaved(false)
    data.set(await call<Security>('security/rule', { method: 'PUT', body: { is_required } }))
    setIsSaved(true)
    await renew()
  })
  return (
    <Card title={words.rule}>
      <Loaded data={data}>
        {({ is_required }) => <Check label={words.ruleLabel} hint={words.ruleMore} isChecked={is_required} onCheck={save.run} />}
      </Loaded>
      <Saved action={save} isSaved={isSaved} />
    </Card>
  )
}

type TableProps = {
  users: readonly User[]
  onLink: (user: User) => void
  onRole: (user: User) => void
  onRemove: (user: User) => void
}

function UserTable({ users, onLink, onRole, onRemove }: TableProps) {
  const words = usePeopleWords()
  const { actions, never, yes, no } = useDashboardWords()
  const { session } = useSession()
  return (
    <Table
      caption={words.people}
      columns={[
        {
          title: words.userName,
          kind: 'wraps',
          cell: (user, folded) => (
            <>
              <strong>{user.name}</strong> {user.id === session.user.id && <Badge>{words.yourself}</Badge>}
              {folded}
            </>
          ),
        },
        {
          title: words.shopOf,
          kind: 'wraps',
          folds: 'phone',
          below: 'plain',
          cell: ({ tenant }) => tenant?.name ?? words.ownerOf,
        },
        { title: words.roleOf, folds: 'tablet', below: 'titled', cell: ({ role }) => words.roles[role] },
        {
          title: words.status,
          folds: 'tablet',
          below: 'last',
          cell: ({ status }) => <Badge tone={status === 'active' ? 'ok' : 'wait'}>{words.userStatuses[status]}</Badge>,
        },
        {
          title: words.secondFactor,
          folds: 'tablet',
          below: 'titled',
          cell: ({ has_second_factor }) => (has_second_factor ? yes : no),
        },
        {
          title: words.lastLogin,
          folds: 'tablet',
          below: 'titled',
          cell: ({ last_login_at }) => (last_login_at ? <Time at={last_login_at} /> : never),
        },
      ]}
      rows={users}
      keyOf={({ id }) => id}
      actions={{
        title: actions,
        label: ({ name }, verb) => `${verb}: ${name}`,
        of: user => [
          user.tenant !== null && { verb: words.changeRole, act: () => onRole(user) },
          { verb: words.resetLink, act: () => onLink(user) },
          user.id !== session.user.id && { verb: words.removeUser, isDangerous: true, act: () => onRemove(user) },
        ],
      }}
    />
  )
}

function InviteDialog({ onClose, onInvited }: { onClose: () => void; onInvited: (linked: Linked) => void }) {
  const words = usePeopleWords()
  const { session, call } = useSession()
  const place = usePlace()
  const [name, setName] = useState('')
  const [tenant, setTenant] = useState(place.tenant.id)
  const [role, setRole] = useState<Role>('member')
  const [isSure, setIsSure] = useState(false)
  const body = { name, role, ...(role !== 'owner' && { tenant }) }
  return (
    <FormDialog
      title={words.inviteTitle}
      verb={words.inviteDo}
      isReady={role !== 'owner' || isSure}
      onSubmit={async () => onInvited(await call<Linked>('users', { method: 'POST', body }))}
      onClose={onClose}
    >
      <NewUserName label={words.userName} hint={words.userNameHint} autocomplete="off" value={name} onText={setName} />
      <RoleChoice {...{ name, role, isSure }} onChoose={setRole} onSure={setIsSure} />
      {role !== 'owner' && session.tenants.length > 1 && (
        <Select
          label={words.shopOf}
          value={tenant}
          options={session.tenants.map(each => [each.id, each.name])}
          onChoose={setTenant}
        />
      )}
    </FormDialog>
  )
}

type Role = User['role']

type RoleProps = {
  name: string
  role: Role
  /** An owner can do everything, so it is confirmed. */
  isSure: boolean
  onChoose: (role: Role) => void
  onSure: (isSure: boolean) => void
}

function RoleChoice({ name, role, isSure, onChoose, onSure }: RoleProps) {
  const words = usePeopleWords()
  return (
    <>
      <fieldset class="choices">
        <legend>{words.roleOf}</legend>
        {(['member', 'viewer', 'owner'] as const).map(each => (
          <Check
            key={each}
            group="role"
            label={words.roles[each]}
            hint={words.rolesMore[each]}
            isChecked={role === each}
            onCheck={() => onChoose(each)}
          />
        ))}
      </fieldset>
      {role === 'owner' && (
        <Notice tone="wait">
          <Check label={words.ownerSure(name)} isChecked={isSure} onCheck={onSure} />
        </Notice>
      )}
    </>
  )
}

function RoleDialog({ user, onClose }: { user: User; onClose: () => void }) {
  const words = usePeopleWords()
  const { call } = useSession()
  const [role, setRole] = useState(user.role)
  const [isSure, setIsSure] = useState(false)
  return (
    <FormDialog
      title={words.roleTitle(user.name)}
      verb={words.roleDo}
      isReady={role !== 'owner' || isSure}
      onSubmit={() => call(`users/${user.id}/role`, { method: 'PUT', body: { role } }).then(onClose)}
      onClose={onClose}
    >
      <RoleChoice {...{ name: user.name, role, isSure }} onChoose={setRole} onSure={setIsSure} />
    </FormDialog>
  )
}

/** The link is shown only here. */
function LinkDialog({ linked: { user, url, expires_at }, onClose }: { linked: Linked; onClose: () => void }) {
  const words = usePeopleWords()
  const { time } = useFormat()
  return (
    <Dialog title={words.linkTitle(user.name)} holds onClose={onClose}>
      <div class="stack">
        <p class="secondary">{words.linkMore(user.name)}</p>
        <Secret text={url} label={words.link} />
        <LeadsHere link={url} sentence={words.linkLeadsHere} />
        <p class="hint">{words.linkUntil(time(expires_at))}</p>
        {user.has_second_factor && (
          <p class="hint">
            {words.linkKeepsFactor} <code>vidimus user reset {user.name}</code>
          </p>
        )}
        <MailLink userId={user.id} url={url} />
        <CopiedButton onClose={onClose} />
      </div>
    </Dialog>
  )
}

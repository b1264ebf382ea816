import type { ComponentChildren } from 'preact'
import type { Template } from '../../../dashboard/templates/schema.ts'
import { Choice, Select } from '../../kit/field.tsx'
import { useLanguage } from '../../shared/language.ts'
import { useDashboardWords } from '../words.ts'
import { Fold } from './fold.tsx'

const EVERYDAY = [
  'age_over_16',
  'age_over_18',
  'age_over_21',
  'age_over_18_photo',
  'identity_basic',
  'address',
  'driving_licence',
  'photo_id',
]

export const GROUPS = ['everyday', 'own', 'more'] as const

/** The same order in every list of templates. */
export const groupOf = ({ key, builtin }: Template): (typeof GROUPS)[number] => {
  if (!builtin) return 'own'
  return EVERYDAY.includes(key) ? 'everyday' : 'more'
}

type MenuProps = {
  label: string
  templates: readonly Template[]
  value: string
  onChoose: (key: string) => void
  /** A first entry without a template. */
  none?: string
}

export const TemplateSelect = (props: MenuProps) => <Select {...useMenu(props)} />

/** Without a visible label. */
export const TemplateChoice = (props: MenuProps) => <Choice {...useMenu(props)} />

function useMenu({ templates, none, ...rest }: MenuProps) {
  const { templateGroups } = useDashboardWords()
  const language = useLanguage()
  const groups = GROUPS.map(group => ({
    label: templateGroups[group],
    options: templates.filter(each => groupOf(each) === group).map(each => [each.key, each.localized.title[language]] as const),
  }))
  return {
    ...rest,
    options: none === undefined ? [] : [['', none] as const],
    groups: groups.filter(each => each.options.length > 0),
  }
}

type TicksProps = {
  templates: readonly Template[]
  isChosen: (template: Template) => boolean
  children: (template: Template) => ComponentChildren
}

/** A row for each template. */
export function TemplateTicks({ templates, isChosen, children }: TicksProps) {
  const { templateGroups } = useDashboardWords()
  const [everyday, own, more] = GROUPS.map(group => templates.filter(each => groupOf(each) === group))
  return (
    <>
      {everyday?.map(children)}
      {own?.map(children)}
      <Fold title={templateGroups.more} holds={more?.some(isChosen) ?? false}>
        {more?.map(children)}
      </Fold>
    </>
  )
}

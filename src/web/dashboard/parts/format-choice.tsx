import type { Format } from '../../../words/templates.ts'
import { Choice, Select } from '../../kit/field.tsx'
import { useDashboardWords } from '../words.ts'

type Props = { label: string; format: Format | undefined; onChoose: (format: Format | undefined) => void }

/** Documents in either format, or in the one that a wallet knows. */
export const FormatSelect = (props: Props) => <Select {...useChoosing(props)} />

/** Without a visible label. */
export const FormatChoice = (props: Props) => <Choice {...useChoosing(props)} />

function useChoosing({ label, format, onChoose }: Props) {
  const { oneFormat } = useDashboardWords()
  return {
    label,
    value: format ?? ('' as const),
    options: [
      ['', oneFormat.none],
      ['mso_mdoc', oneFormat.mso_mdoc],
      ['dc+sd-jwt', oneFormat['dc+sd-jwt']],
    ] as const,
    onChoose: (chosen: Format | '') => onChoose(chosen || undefined),
  }
}

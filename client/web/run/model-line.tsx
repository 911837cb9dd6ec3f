/** Said wherever a result is shown, so that nobody takes a scripted answer for a model's. */
import type { DetailsView } from '../../schemas/details';

export const ModelLine = ({ model }: { readonly model: DetailsView['model'] }) => {
  if (model === undefined) return <>No model has answered yet.</>;
  if (!model.isScripted) return <>Model: {model.model}</>;
  return (
    <>
      <span class="badge warn">offline model</span> A script stood in for the model: nothing was asked of a real one.
    </>
  );
};

SELECT
    intDiv(at_us - {cells_from:Int64}, {cells_step:Int64}) AS cell,
    countIf((in_objective_0_0) AND (is_good OR is_bad)) AS objective_0_0_valued,
    countIf((in_objective_0_0) AND (is_bad)) AS objective_0_0_over,
    countIf((in_objective_0_1) AND (is_good OR is_bad)) AS objective_0_1_valued,
    countIf((in_objective_0_1) AND (is_bad)) AS objective_0_1_over,
    countIf((in_objective_1_0) AND ((is_ok) AND (speed_micro IS NOT NULL))) AS objective_1_0_valued,
    countIf((in_objective_1_0) AND (is_failed)) AS objective_1_0_unanswered,
    countIf((in_objective_1_0) AND ((is_ok) AND (speed_micro IS NULL))) AS objective_1_0_unknown,
    arraySort(groupArrayIf(assumeNotNull(speed_micro), (in_objective_1_0) AND ((is_ok) AND (speed_micro IS NOT NULL))))[greatest(toInt64(intDiv({objective_1_0_rank_of:UInt64} * (countIf((in_objective_1_0) AND ((is_ok) AND (speed_micro IS NOT NULL))) + countIf((in_objective_1_0) AND (is_failed)) + countIf((in_objective_1_0) AND ((is_ok) AND (speed_micro IS NULL)))) + {objective_1_0_rank_in:UInt64} - 1, {objective_1_0_rank_in:UInt64})) - toInt64(countIf((in_objective_1_0) AND (is_failed)) + countIf((in_objective_1_0) AND ((is_ok) AND (speed_micro IS NULL)))), 1)] AS objective_1_0_value,
    countIf((in_objective_1_1) AND ((is_ok) AND (speed_micro IS NOT NULL))) AS objective_1_1_valued,
    countIf((in_objective_1_1) AND (is_failed)) AS objective_1_1_unanswered,
    countIf((in_objective_1_1) AND ((is_ok) AND (speed_micro IS NULL))) AS objective_1_1_unknown,
    arraySort(groupArrayIf(assumeNotNull(speed_micro), (in_objective_1_1) AND ((is_ok) AND (speed_micro IS NOT NULL))))[greatest(toInt64(intDiv({objective_1_1_rank_of:UInt64} * (countIf((in_objective_1_1) AND ((is_ok) AND (speed_micro IS NOT NULL))) + countIf((in_objective_1_1) AND (is_failed)) + countIf((in_objective_1_1) AND ((is_ok) AND (speed_micro IS NULL)))) + {objective_1_1_rank_in:UInt64} - 1, {objective_1_1_rank_in:UInt64})) - toInt64(countIf((in_objective_1_1) AND (is_failed)) + countIf((in_objective_1_1) AND ((is_ok) AND (speed_micro IS NULL)))), 1)] AS objective_1_1_value,
    countIf((in_objective_2_0) AND ((is_ok) AND (clock_inference IS NOT NULL))) AS objective_2_0_valued,
    countIf((in_objective_2_0) AND ((is_ok) AND (ifNull(clock_inference > {objective_2_0_at_most:Int64}, 0)))) AS objective_2_0_over,
    countIf((in_objective_2_0) AND (is_failed OR (is_aborted AND clock_end_to_end > {objective_2_0_at_most:Int64}))) AS objective_2_0_unanswered,
    countIf((in_objective_2_0) AND ((is_ok) AND (clock_inference IS NULL))) AS objective_2_0_unknown,
    arraySort(groupArrayIf(assumeNotNull(clock_inference), (in_objective_2_0) AND ((is_ok) AND (clock_inference IS NOT NULL))))[intDiv({objective_2_0_rank_of:UInt64} * (countIf((in_objective_2_0) AND ((is_ok) AND (clock_inference IS NOT NULL))) + countIf((in_objective_2_0) AND (is_failed OR (is_aborted AND clock_end_to_end > {objective_2_0_at_most:Int64}))) + countIf((in_objective_2_0) AND ((is_ok) AND (clock_inference IS NULL)))) + {objective_2_0_rank_in:UInt64} - 1, {objective_2_0_rank_in:UInt64})] AS objective_2_0_value,
    countIf((in_objective_2_1) AND ((is_ok) AND (clock_inference IS NOT NULL))) AS objective_2_1_valued,
    countIf((in_objective_2_1) AND ((is_ok) AND (ifNull(clock_inference > {objective_2_1_at_most:Int64}, 0)))) AS objective_2_1_over,
    countIf((in_objective_2_1) AND (is_failed OR (is_aborted AND clock_end_to_end > {objective_2_1_at_most:Int64}))) AS objective_2_1_unanswered,
    countIf((in_objective_2_1) AND ((is_ok) AND (clock_inference IS NULL))) AS objective_2_1_unknown,
    arraySort(groupArrayIf(assumeNotNull(clock_inference), (in_objective_2_1) AND ((is_ok) AND (clock_inference IS NOT NULL))))[intDiv({objective_2_1_rank_of:UInt64} * (countIf((in_objective_2_1) AND ((is_ok) AND (clock_inference IS NOT NULL))) + countIf((in_objective_2_1) AND (is_failed OR (is_aborted AND clock_end_to_end > {objective_2_1_at_most:Int64}))) + countIf((in_objective_2_1) AND ((is_ok) AND (clock_inference IS NULL)))) + {objective_2_1_rank_in:UInt64} - 1, {objective_2_1_rank_in:UInt64})] AS objective_2_1_value
FROM
(
SELECT * FROM rows
)
WHERE at_us >= {cells_from:Int64} AND at_us < {cells_to:Int64}
GROUP BY cell
ORDER BY cell

/* {
 "cells_from": 0,
 "cells_step": 60000000,
 "objective_1_0_rank_of": 1,
 "objective_1_0_rank_in": 2,
 "objective_1_1_rank_of": 1,
 "objective_1_1_rank_in": 2,
 "objective_2_0_at_most": 2000000,
 "objective_2_0_rank_of": 99,
 "objective_2_0_rank_in": 100,
 "objective_2_1_at_most": 2000000,
 "objective_2_1_rank_of": 99,
 "objective_2_1_rank_in": 100,
 "cells_to": 120000000
} */

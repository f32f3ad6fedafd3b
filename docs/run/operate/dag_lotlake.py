"""In the DAGs folder of Airflow 3. The worker has lotlake, and /srv/lotlake with lotlake.config.json and .env.

Airflow shows a task that failed; give the DAGs an on_failure_callback to have it told.
"""

from datetime import timedelta

import pendulum
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG

COMMON = {
    "start_date": pendulum.datetime(2026, 1, 1, tz="UTC"),
    "catchup": False,
    "max_active_runs": 1,
    "default_args": {"cwd": "/srv/lotlake", "retries": 0},
}

with DAG(dag_id="lotlake", description="Full pass over the feed, tables, marts, publish", schedule="15 2 * * *", **COMMON):
    nightly = BashOperator(
        task_id="nightly",
        bash_command="lotlake run nightly --quiet --log-file lotlake.log",
        # A retry requests no landed page again. 6: another run has the lake.
        retries=1,
        retry_delay=timedelta(minutes=30),
        skip_on_exit_code=6,
        execution_timeout=timedelta(hours=12),
    )
    vacuum = BashOperator(task_id="vacuum", bash_command="lotlake vacuum")
    nightly >> vacuum

with DAG(dag_id="lotlake_incremental", description="What changed", schedule="15 5,8,11,14,17,20 * * *", **COMMON):
    BashOperator(
        task_id="incremental",
        bash_command="lotlake run incremental --quiet --log-file lotlake.log",
        skip_on_exit_code=6,
        execution_timeout=timedelta(hours=2),
    )

# Fails if no night has published within 26 hours, whatever became of it, or if an alarm is open.
with DAG(dag_id="lotlake_fresh", description="Has a night published?", schedule="0 7 * * *", **COMMON):
    BashOperator(task_id="fresh", bash_command="lotlake status --max-age 26h --fail-on-alarm --notify")

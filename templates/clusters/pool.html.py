BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXX
    XXXX XXXXXXXXXXXXX
      XXXX XXXXXXXXXXXX
        XXX XXXXXXXXXXXXXXXXXX
        BB BBBBBBBBBBBB
          XXXXX XXXXXXXXXXXXX gettext(u'open to all teams') XXXXXXX
        BBBBB
      XXXXXX
      XX XXXXXXXXXXXX
        BB BBBBBBBB
          XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
        BBBB
          
        BBBBB
        BB BBBBBBBBBBBBBB BB BBBBBBBBBX FFFFFFFFFFBBBBB
        BB BBBBBBBBBX BBBBB
      XXXX
    XXXXXX
    XXXX XXXXXXXXXXXXXXXX
      BB BBB
        XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Jobs') XXXX
        XX XXXXXXXXXXX
           XXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'link', u'Idle rule') XXXX
        BB BBBBBBBB
          XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Open in Platform') XXXX
        BBBBB
        XX XXXXXXXXXX XXXXXXXX
           XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Request GPUs') XXXX
      BBBB
        XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'link', u'Idle rule') XXXX
      BBBBB
      BB BBBBBBBBB
        XXXXXXX XXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Edit') XXXXXXXXX
      BBBBB
    XXXXXX
  XXXXXX
  BB BBBBBBBBBBBBB BB BBBBBBBBBBB
    XXXX XXXXXXXXXXX BB BBBBBBBBBBBBBB BB BBBBBBBBXXXBBBBXXXXBBBBBXX
      XXXXXXXXXXX FFFFFFFFFFXXXX
    XXXXXX
  BBBBB
  XXXX XXXXXXXXXXXX XXXXXX
    XXXX XXXXXXXXXXXXXX
       pgettext(u'name of a value', u'%(f)s of %(t)s GPUs free') 
        SSSSS SS SSSSS SSSS SSSS
      
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Available now') X
               XXXXXXXXX
        BBB BBBBB B BB BBBBBBBBBBBBBBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBB
        BBBBB
          XX XXXXXXXXXXXX XXXXXXX
            BB BBBBBBBBBBB
               gettext(u'Its nodes have no GPUs.') 
            BBBB
               gettext(u'No nodes match this pool. Jobs sent to it are refused until a node with this GPU model, these labels and this partition appears.') 
                SS SSSSS SSSSS SSSS SSSSS SSSS SSSS SS SS SSS SSSSSSS SSSSS S SSSS SSSS SSSS SSS SSSSSS SSSSS SSSSSS
                SSS SSSS SSSSSSSSS SSSSSSSS
              
            BBBBB
          XXXX
        BBBBBB
      XXXXXXXXXX
      BB BBB BBB
         gettext(u'No jobs are running or pending in this pool.') 
      BBBB
         gettext(u'No jobs that you can see are running or pending in this pool.') 
      BBBBB
      XXXXXXX XXXXXXXXXXXX XXXXXXX XXXXXXXX XX
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBB
    XXXXXX
    XXXX XXXXXXXXXXXXXX
      BB BBBBBBBB
        XXXXXXXX XXXXXXX pgettext(u'heading', u'GPU requests') X
                 XXXXXXXFFFFFFX
                 XXXXXXXXXXXXXXXXXXXXXX
                 XXXXXX pgettext(u'link', u'All') XX
          BBB B BB BBBBBBBB
            XXXX XXXXXXXXXX XXXXXXX XXXXXXX
              XX XXXXXXXXXXXXXXXXXXXXXXXX X FFFFFFFFXXXX
              XXXXX XXXXXXXXXXXX XXXXXXXXX FFFFFFFFFFFFXXXXXXX
            XXXXXX
          BBBBBB
        XXXXXXXXXX
      BBBBB
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBB
      BB BBBBBBBBB
        XXXXXXXX XXXXXXXXXXXXXX
          XXXXXXXXX pgettext(u'heading', u'Delete permanently') XXXXXXXXXX
          XXXXX XXXXXXXXXXX XXXXXXX XXXXXX
                XXXXXXXXXXXXX
                XXXXXXXXXXXXXX gettext(u'Delete %(p)s? Teams lose access to it.') 
                  SSSSSS SSSSSS SSSSS SSSS SSSSSS SS SSS
                X
                XXXXXXXXXX pgettext(u'button', u'Delete pool') XX
            BBBBBBBBBB
            XXX
               gettext(u'Teams lose access to it. Running jobs continue; new jobs that name it are refused.') 
                SSSSS SSSS SSSSSS SS SSS SSSSSSS SSSS SSSSSSSSS SSS SSSS SSSS SSSS SS SSS SSSSSSSS
              
              BB BBBBBBB
                XXX
                   gettext(u'This is the last pool of %(c)s. Without pools, every team can use the whole cluster, so open it to all teams first.') 
                    SSSS SS SSS SSSS SSSS SS SSSSSS SSSSSSS SSSSSS SSSSS SSSS SSS SSS SSS SSSSS SSSSSSSS SS SSSS
                    SS SS SSS SSSSS SSSSSS
                  
                XXXX
              BBBBB
            XXXX
            XXXXXXX XXXXXXXXXX XXXXXXX
                    XXXXXXXXX
                    XXXXXXXXXXXXXX
                    BB BBBBBBBXXXXXXXXBBBBBX pgettext(u'button', u'Delete pool') XXXXXXXXX
          XXXXXXX
        XXXXXXXXXX
      BBBB BBB
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Run a job here') XX
          XXXXXXX XXXXXXXXXXXX XXX XXXXXX  XX XXXXXX XXXXXXXXX XX
        XXXXXXXXXX
      BBBBB
    XXXXXX
  XXXXXX
  BB BBBBBBBBB
     pgettext(u'heading', u'Edit %(p)s') SSSS SSSSS
    XXXXXXXXXXXXXX XXXXXXXXXXXXXX
                   XXXXXXXX
                   XXXXXXXX pgettext(u'button', u'Save') X
                   XXXXXXXXXXXX
      XXXX XXXXXXXXXXXXX XXXXXXXXXBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBBBBBXXXXXX
    XXXXXXXXXXXXXXXX
    BB BBBBBBBBB
      XXXXXXXXXXXXXX XXXXXXXXXX
                     XXXXXXX pgettext(u'heading', u'Give access') X
                     XXXXXXXX pgettext(u'button', u'Give access') X
                     XXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Team') XX
          XXXXXXX XXXXXXXXXXXX
            BBBBBBB BBBBBBBBB BB BBB BB BBBBBBBBBBBBB
            BBB BBB BB BBBBBBBBBBBBB
              XXXXXXXXX XXXXXXXXX
                BBB B BB BBBBBBBBXXXXXXX XXXXXXXXXXXXXXXXXXXBBBBBB
              XXXXXXXXXXX
            BBBBBB
          XXXXXXXXX
        XXXXXXXXXX
        BB BBBBBBBBBBBBBB
          XXXXXXXXX
            XXXXXXXX XXXXXXXXXXXX XXXXXXX pgettext(u'heading', u'Scheduler identity') XXXXXXXXXX
            XXXX XXXXXXXXXXXXXXXX
              XXXXXXXX XXXXXXX pgettext(u'field', u'User') XX
                XXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXX
              XXXXXXXXXX
              XXXXXXXX XXXXXXX pgettext(u'field, of a person or service', u'Account') XX
                XXXXXX XXXXXXXXXXX XXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX
              XXXXXXXXXX
              XXXXXXXX XXXXXXXXXXXX
                XXXXXX XXXXXXXXXXX XXXXXXXXXX XXXXXXXXXXXXXXXXXXX
              XXXXXXXXXX
              XX XXXXXXXXXXXX XXXXXXX gettext(u'Empty: the settings of the cluster.') XXXX
            XXXXXX
          XXXXXXXXXX
        BBBBB
      XXXXXXXXXXXXXXXX
    BBBBB
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  BB BBBBBBBBB
    XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBBXXXXXXXXXXX
  BBBBB
BBBBBBBB

BBBB BBBB BBBBBB
 #

XXXX XXXXXXXXXXXX XXXX XXXXXXXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    XXXX XXXXXXXXXXXXXXXXXXXX
      BB BBB BB BBBBBBB
        XXXX XXXXXXXXXXXX XXXXXXXXXXX
          BBB BBB BB BBB
            XXXX XXXXXXXXXXXXX
              XXXXX XXXXXXXXXXXXXXXXXXX
                BB BBBBBBBBBBBBBBBBBBB
                   pgettext(u'text, jobs', u'%(name)s, mean') 
                    SSSSSSSSS SSSS
                  
                BBBB
                   pgettext(u'text, jobs', u'%(name)s, 5 min') 
                    SSSSSSSSS S SSS
                  
                BBBBB
              XXXXXXX
              XXXXXXX XXXXXXXXXXXXXXXXXXX
                BB BBBBBBBBBBB BB BBBB
                  X
                BBBB
                  X
                BBBBB
              XXXXXXXXX
              BBBBBBB BBBBBBBBBBBBBBBBBBBBBB
            XXXXXX
          BBBBBB
          BBB BBB BB BBBBBBB
            XXXX XXXXXXXXXXXXX
              XXXXX XXXXXXXXXXXXXXXXX XXXXX XXXXXXXXXXXXXXXX
              XXXXXXX XXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXFFFFFFXXXXXXXXX
            XXXXXX
          BBBBBB
        XXXXXX
      BBBBB
    XXXXXX
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Curves') X
             XXXXXXXXXXX
             XXXXXXXBB BBB BBBBBBBBBBBBBBBXXXXXXXXBBBBBXX
      XXXXXXX XXXXXXXXXXXXXXX
        XX XXXXXXXXXXXXX
           XXXXXXXXXXXXXXXXXXXXXXX
           XXXXXXBBBBB BBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBXX pgettext(u'link', u'Metrics') XXXX
      XXXXXXXXX
      XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXX
               XXXXXXXXXXXXXXXXXXXX
               XXXXXXXXX
               XXXXXXXXXXXXXXXXXXXXXXXXXXX
               XXXXXXXXXXXXXXX XX
    XXXXXXXXXX
    BB BBBBBBB BB BBBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Outputs') XX
        XXXX XXXXXXXXXXXXXXXXXXXXBBBBBBB BBBBBBBBBBBBBBBBBBBBXXXXXX
      XXXXXXXXXX
    BBBBB
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Log') X
             XXXXXXXXX
             XXXXXXXXXXXXX
      XXXXXXX XXXXXXXXXXXXXXX
        XX XXXXXXXXXXXXX
           XXXXXXXXXXXXXXXXXXXX
           XXXXXXBBBBB BBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBXX pgettext(u'link', u'Open log') XXXX
      XXXXXXXXX
      XXXX XXXXXXXXXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXX gettext(u'Last lines of the log') XXBBB BBBB BB BBBB
BBBBBB
XXXXXX
      XX XXXXXXXXXXXXXXXXX XXXXXX
         BB BBBBXXXXXXBBBBB
         XXXXXXXXXXXXXXXX
        BB BBBBBBBBBBBBBBBBBBBBBBB
           gettext(u'The log was deleted.') 
        BBBB BBBBBBBBBBBBB BB BBBBBBBB
           gettext(u'The log appears here when the job starts.') 
        BBBB BBBBBBBB
           gettext(u'The job wrote nothing.') 
        BBBB
           gettext(u'No output yet.') 
        BBBBB
      XXXX
    XXXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Command') XX
      XXXXXXX XXXXXXXXXXXXXXXXXXXX XX
    XXXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'heading', u'CLI') XX
      XXXXXXXX
        XXXXXX XXX XXXX XX 
      XXXXXXXXX
      XXXXXXXX
        XXXXXX XXX XXXXX 
      XXXXXXXXX
      XXXXXXXX
        XXXX XX XXXXXXXXXXXXXXX XXXXXX XXXXXXXXXXXXXX 
      XXXXXXXXX
    XXXXXXXXXX
  XXXXXX
  XXXX XXXXXXXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Resources') XX
      XXXX XXXXXXXXXXXXXXXXXXXXXX
        XXX XXXXXXXXXXXXXX
          BB BBBBBBBBBBBBBBBBBB
            XXXX pgettext(u'name of a value', u'GPUs requested') XXXXX
            XXXX
               X FFFFFFFFFFFFFFFFFFFFF
            XXXXX
          BBBBB
          BB BBBBBBBBBBBBBBBB
            XXXX gettext(u'GPU memory usage') XXXXX
            XXXX
              FFFF
            XXXXX
          BBBBB
          XXXX pgettext(u'name of a value', u'CPU requested') XXXXX
          XXXX
            FFFFFFFFFFFFFF
          XXXXX
          BB BBBBBBBBB BB BBBB
            XXXX pgettext(u'name of a value', u'CPU usage') XXXXX
            XXXX
              FFFFFFFFFFFFFF
            XXXXX
          BBBBB
          BB BBBBBBBBBBBBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Memory requested') XXXXX
            XXXX
              FFFF
            XXXXX
          BBBBB
          BB BBBBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Memory usage') XXXXX
            XXXX
              FFFF
            XXXXX
          BBBBB
          BB BBBBBBBBBBBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Peak memory') XXXXX
            XXXX
              FFFF
            XXXXX
          BBBBB
          BB BBBB
            XXXX
              BB BBBBBBBB
                 pgettext(u'name of a value', u'Cost') 
              BBBB
                 pgettext(u'name of a value', u'Cost so far') 
              BBBBB
            XXXXX
            XXXX
              
            XXXXX
          BBBBB
          BB BBBBBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Nodes') XXXXX
            XXXX
              BBB B BB BBBBBBBBBBBBB
                XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXBB BBB BBBBBBBBBBBBXBBBBB
              BBBBBB
            XXXXX
          BBBBB
          BB BBBBBBBBBBBB
            XXXX pgettext(u'name of a value', u'GPU indexes') XXXXX
            XXXX
              BBB BBBBBB BBBB BB BBBBBBBBBBBBBBB
                XX XXXXXXXXXXXXXXXXXXXBB BBB BBBBBBBBBBBBXBBBBB
              BBBBB
                FFFFFFF F
              BBBBBB
            XXXXX
          BBBBB
        XXXXX
      XXXXXX
    XXXXXXXXXX
    BB BBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Ports') X
               XXXXXXXFFFFFFXX
        XXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXX
          BBB BBB BB BBBBB
            XXXX
              BB BBBBBBBBBBBBB BB BBBBBBBBB BBB BBBBBBBBBBBB BB BBBBBB
                XX XXXXXXBBB BBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBB BBBBBBBBBBBBBBB BBBBBBBBBBXXXXXXBBBBBX
                   XXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXX
              BBBB
                
              BBBBB
            XXXXX
            XXXX
              
              BB BBBBBBBBBBBBBBBB
                XXXXX XXXXXXXXXXXX XXXXXXX
                   npgettext(u'number of things', u'%(n)s open connection', u'%(n)s open connections',count) 
                    SSSSS SSSS SSSSSSSSSS
                  
                    PPPPP PPPP PPPPPPPPPPP
                  
                XXXXXXX
              BBBB BBBBBBBBBBBBBBBB
                XXXXX XXXXXXXXXXXX XXXXXXX
                   pgettext(u'value', u'Last used %(time)s') 
                    SSSS SSSS SSSSSSSS
                  
                XXXXXXX
              BBBBB
              XXXXXXXX
                XXXXXX XXXXXXXXXXXX  
              XXXXXXXXX
            XXXXX
          BBBBBB
        XXXXX
      XXXXXXXXXX
    BBBBB
    BB BBBBBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Inputs') X
               XXXXXXXFFFFFFXX
        XXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX
          BBB BBB BB BBBBBBBBBB
            XXXXXXXXX
            XXXX
              BB BBBBBBBBBB
                XX XXXXXXBBB BBBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBXXXXXX XXXXX
              BBBB
                 X
                XXXXX XXXXXXXXXXXX XXXXXXX pgettext(u'value', u'Deleted') XXXXXXX
              BBBBB
              BB BBBBBBBB BB BBBBBBBBBBBB
                XXXXX XXXXXXXXXXXX XXXXXXX pgettext(u'value', u'Checkpoint') XXXXXXX
              BBBBB
              XXXX
              XXXXX XXXXXXXXXXXX XXXXX XXXXXXXXXXXXXX
            XXXXX
          BBBBBB
        XXXXX
      XXXXXXXXXX
    BBBBB
    BB BBBBBBBBBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Workspaces') X
               XXXXXXXFFFFFFXX
        XXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXX
          BBB BBB BB BBBBBBBBBBBBBB
            XXXXXXXXX
            XXXX
              BB BBBBBBBBBB
                XX XXXXXXBBB BBBBBBBBBBB BBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBXXXXXX
              BBBB
                
                XXXXX XXXXXXXXXXXX XXXXXXX pgettext(u'value', u'Deleted') XXXXXXX
              BBBBB
              BB BBBBBBBBBBBBB
                XXXXX XXXXXXXXXXXX XXXXXXX pgettext(u'value', u'Read only') XXXXXXX
              BBBBB
              XXXX
              XXXXX XXXXXXXXXXXX XXXXX XXXXXXXXXXXXXX
            XXXXX
          BBBBBB
        XXXXX
      XXXXXXXXXX
    BBBBB
    BB BBBBBBBBBBBBBBB BB BBBBBBBBBBBBBB BB BBBBBBBBBBBBB BB BBBBBBBBBBBBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Lineage') XX
        XXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXX
           pgettext(u'field', u'Rerun of') 
           pgettext(u'field', u'Reruns') 
           pgettext(u'field', u'Depends on') 
           pgettext(u'field', u'Needed by') 
          BBBBBBB BBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
        XXXXXX
      XXXXXXXXXX
    BBBBB
    XXXXXXXX XXXXXXX pgettext(u'heading', u'Details') XX
      XXXX XXXXXXXXXXXXXXXXXXXX
        XXX XXXXXXXXXXXXXX
          XXXX pgettext(u'name of a value', u'Cluster') XXXXX
          XXXX
            
            BB BBBBBBBBBBBBBBBBBXXXXX XXXXXXXXXXXXXXXXXXXXXBBBBB
            BB BBBBBBBBBBBBB BBB BBBBBBB BBB BBB BBBBBBBBBBBBBBBBBBBBB
              XXXX
              XXXXX XXXXXXXXXXXX XXXXXXXFFFFFFFFFFFFFFXXXXXXX
            BBBBB
          XXXXX
          BB BBBBBBBB
            XXXX pgettext(u'name of a value', u'Pool') XXXXX
            XXXX
              XX XXXXXXXXXXXXXXXXXXXX
              BB BBB BBBBBBBBBBBBBBBBBBBB
                XXXXX XXXXXXXXXXXX XXXXXXX pgettext(u'value, a pool', u'chosen by Muster') XXXXXXX
              BBBBB
            XXXXX
          BBBBB
          BB BBBBBBBBB
            XXXX pgettext(u'name of a value, container image', u'Image') XXXXX
            XXX XXXXXXXXXXXXX
              
            XXXXX
          BBBBB
          XXXX pgettext(u'name of a value', u'Priority') XXXXX
          XXXX
            FFFFFFFFFF
          XXXXX
          XXXX pgettext(u'name of a value', u'Submitted') XXXXX
          XXXX
            FFF
          XXXXX
          BB BBBBBBBBBBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Started') XXXXX
            XXXX
              FFF
            XXXXX
          BBBBB
          BB BBBBBBBBBBBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Ended') XXXXX
            XXXX
              FFF
            XXXXX
          BBBBB
          BB BBBBBBBBBBBBBBBBB BB BBBB
            XXXX pgettext(u'name of a value', u'Exit code') XXXXX
            XXXX
              
            XXXXX
          BBBBB
          BB BBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Labels') XXXXX
            XXXX
              BBB BBBBB BBBBB BB BBBBBBBBBBBBBBBB
                XX XXXXXXXXXXXX
                   XXXXXXXXXXXXBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBXXX XXXX
              BBBBBB
            XXXXX
          BBBBB
          BB BBBBBBBBBBBBBBBBBB BBB BBB BBBBBBBB
            XXXX pgettext(u'name of a value', u'Last report') XXXXX
            XXXX
              FFFFFFFFFF
            XXXXX
          BBBBB
          XXXX pgettext(u'name of a value', u'ID') XXXXX
          XXX XXXXXXXXXXX XXXXXXX
            
          XXXXX
        XXXXX
      XXXXXX
    XXXXXXXXXX
  XXXXXX
XXXXXX

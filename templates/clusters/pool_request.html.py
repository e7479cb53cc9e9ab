BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #
 #

BBBBB BBBBBXXXXXXXXXXXXXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXX
    XXXX XXXXXXXXXXXXX
      XXXX XXXXXXXXXXXX
        XXX XXXXXXXXXXXXX
           pgettext(u'heading', u'%(n)s × %(type)s for %(team)s') 
            SSSSS S SSSSSSSS SSS SSSSSSSS
          
        XXXXX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
      XXXXXX
      XX XXXXXXXXXX XXXXXXX
        XXXXXXXX XXXXXXXXXXXXXXXXXXXX XXXXXXX
        XXXXXXFFFFFFFFFFFF X FFFFFFFFFFFFXXXXXXX
        BB BBBBBBBB
          XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXX
        BBBBB
      XXXX
    XXXXXX
    BB BBBBBBB BBB BBBBBBBBB BB BBBBBBBBBB
      XXXX XXXXXXXXXXXXXXXX
        XXXXX XXXXXXXXXXXXX
              XXXXXXXXXXXXXX gettext(u"Return these GPUs? Running jobs continue; new jobs can't use the pool.") X
              XXXXXXXXXX pgettext(u'button', u'Return GPUs') XX
          BBBBBBBBBB
          XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX pgettext(u'button', u'Return GPUs') XXXXXXXXX
        XXXXXXX
        XXXXXXX XXXXXXXXXX XXXXXXXX
                XXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Renew') XXXXXXXXX
      XXXXXX
    BBBB BBB BBBBBBBBBB BBB BBBBBBBBBBBBBBBBB BBB BBBBBBBBB BB BBBBBB
      XXXX XXXXXXXXXXXXXXXX
        XX XXXXXXXXXX XXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Decide in Platform') XXXX
      XXXXXX
    BBBB BBBBBBB BBB BBBBBBBBB BB BBBBBB
      XXXX XXXXXXXXXXXXXXXX
        XXXXX XXXXXXXXXXXXXX
          BBBBBBBBBB
          XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXXX pgettext(u'button', u'Withdraw') XXXXXXXXX
        XXXXXXX
      XXXXXX
    BBBBB
  XXXXXX
  XXXX XXXXXXXXXXXX XXXXXX
    XXXX XXXXXXXXXXXXXX
      BB BBBBBBBBBB BBB BBBBBBBBB BB BBBBBB
        XXXXXXXX XXXXXXX gettext(u'What would be approved') XX
          XXXXX XXXXXXXXXXXXXX XXXXXXXXXXXXX
            XXXXXXXX XXXXXXX pgettext(u'field', u'GPUs') XX
              XXXXXX XXXXXXXXXXXXX
                     XXXXXXXXXXX
                     XXXXXXX
                     XXXXXXXXXXXX
                     XXXXXXXX
                     XXXXXXXXX
            XXXXXXXXXX
            XXXXXXXX XXXXXXX pgettext(u'field', u'Until') XX
              XXXXXX XXXXXXXXXXX
                     XXXXXXXXXXXXXX
                     XXXXXX
                     XXXXXXXX
                     XXXXXXXFFFFFFFFFFFFXX
            XXXXXXXXXX
            XXXXX
              XXXXXXX XXXXXXXXXXXX pgettext(u'button', u'Show effect') XXXXXXXXX
            XXXXXX
          XXXXXXX
          BB BBBBBBBBBB
            XX XXXXXXXXXXXX XXXXXXX
               gettext(u'Requested: %(n)s until %(until)s.') 
                SSSSSSSSSS SSSSS SSSSS SSSSSSSSSS
              
              XX XXXXXXXX gettext(u'Show the effect of that') XXXX
            XXXX
          BBBBB
        XXXXXXXXXX
        BBB B BB BBBBBBB
          XXXXXXXX XXXXXXXX XXXXXXXXX
            XXX XXXXXXXXXXXXXX
              XXXX pgettext(u'name of a value', u'Free now') XXXXX
              XXXX
                 pgettext(u'value', u'%(free)s of %(total)s') 
                  SSSSSSSS SS SSSSSSSSS
                
                BB BBBBBBBBBBBBBBBBBB
                  XXXXX XXXXXXXXXXXXXX
                     gettext(u'%(n)s promised to others for that time') 
                      SSSSS SSSSSSSS SS SSSSSS SSS SSSS SSSS
                    
                  XXXXXXX
                BBBBB
              XXXXX
              BB BBBBBBB
                XXXX pgettext(u'name of a value', u'Missing') XXXXX
                XXX XXXXXXXXXXXXXXXXXX
                  FFFFFFFFFFFFFFFF
                XXXXX
              BBBBB
              BB BBBBBB
                XXXX gettext(u'Must become free') XXXXX
                XXXX
                  FFFFFFFFFFFFFFFF
                  BBB BBB B BB BBBBBB
                    XXXXX XXXXXXXXXXXXXX FFFBB BBB BBBBBBBBBBBBXBBBBBXXXXXXX
                  BBBBBB
                XXXXX
              BBBBB
              XXXX gettext(u'Would wait longer') XXXXX
              XXXX
                BB BBBBBBBBB
                   ngettext(u'1 pending job of another team, for %(gpus)s GPUs', u'%(n)s pending jobs of other teams, for %(gpus)s GPUs', count) 
                    S SSSSSSS SSS SS SSSSSSS SSSSS SSS SSSSSSSS SSSS
                  
                    PPPPP PPPPPPP PPPP PP PPPPP PPPPPP PPP PPPPPPPP PPPP
                  
                BBBB
                   gettext(u'No pending job of another team') 
                BBBBB
              XXXXX
              XXXX pgettext(u'name of a value', u'Holds back') XXXXX
              XXXX
                 pgettext(u'value', u'%(n)s GPU-hours') 
                  SSSSS SSSSSSSSS
                
              XXXXX
              BB BBBBBBBBBBBBB
                XXXX pgettext(u'name of a value', u'Exclusive') XXXXX
                XXXX
                  BB BBBBBBBBBBBBBBBBBBBBB
                    XXXXX XXXXXXXXXXXXXXXXXXFFFFFFFFFFXXXXXXX
                  BBBB
                    FFFFFFFFFF
                    BB BBBBBBBBBBBBBBBBBB B BBBBBBBBBB
                      XXXXX XXXXXXXXXXXXXXXXXX
                         gettext(u'Whole nodes are kept: %(n)s GPUs.') 
                          SSSSS SSSSS SSS SSSSS SSSSS SSSSS
                        
                      XXXXXXX
                    BBBBB
                    BB BBBBBBBBBBBBBBBBBB
                      XXXXX XXXXXXXXXXXXXXXXXX
                         ngettext(u'1 GPU there is in use by others; their job ends first.', u'%(n)s GPUs there are in use by others; their jobs end first.', count) 
                          S SSS SSSSS SS SS SSS SS SSSSSSS SSSSS SSS SSSS SSSSSS
                        
                          PPPPP PPPP PPPPP PPP PP PPP PP PPPPPPP PPPPP PPPP PPP PPPPPP
                        
                      XXXXXXX
                    BBBBB
                  BBBBB
                XXXXX
              BBBBB
              BB BBBBBB BBB BBBBBBBBBBBBBB
                XXXX pgettext(u'name of a value', u'MIG changes') XXXXX
                XXXX
                   ngettext(u'1 GPU must be partitioned anew', u'%(n)s GPUs must be partitioned anew', count) 
                    S SSS SSSS SS SSSSSSSSSSS SSSS
                  
                    PPPPP PPPP PPPP PP PPPPPPPPPPP PPPP
                  
                  BB BBBBBBBBBBBBBBBBBB
                    XXXXX XXXXXXXXXXXXXXXXXX
                       ngettext(u'1 job must end first', u'%(n)s jobs must end first', count) 
                        S SSS SSSS SSS SSSSS
                      
                        PPPPP PPPP PPPP PPP PPPPP
                      
                    XXXXXXX
                  BBBBB
                  XXXXXXXXX
                    XXXXXXXX XXXXXXXXXXXX XXXXXXX pgettext(u'heading', u'Which') XXXXXXXXXX
                    BBB BBBBBB BB BBBBBBBBBBBBBB
                      XXXX XXXXXXXXXXXXXX
                        XX XXXXXXXXXXXXXXXXXXX
                        BBB BBB BB BBBBBBBBBBBBBBXXXXXXXBBBBBB
                        BBB BBB BB BBBBBBBBBBBBBBXXXXX XXXXXXXXXXXXXXXXXXXXBBBBBB
                      XXXXXX
                    BBBBBB
                  XXXXXXXXXX
                  XX XXXXXXXXXXXXXX
                     gettext(u'Partition these GPUs first; then approve.') 
                    XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXFFFFFFFFFXXXXXXXXXXXFFFFFFFFFXX pgettext(u'link', u'Plan it') XXXX
                  XXXX
                XXXXX
              BBBBB
            XXXXX
            BB BBBBBBB BBB BBBBBBBBBBBBBB
              XX XXXXXXXXXXXXXX
                XX XXXXXXXXXXXXXXXXXXXXXXXXXFFFFFFFFFFFFXX
                   ngettext(u'Show the effect of 1 GPU', u'Show the effect of %(n)s GPUs', count) 
                    SSSS SSS SSSSSS SS S SSS
                  
                    PPPP PPP PPPPPP PP PPPPP PPPP
                  
                XXXX
              XXXX
            BBBB BBB BBBBBBB BBB BBB BBBBBBBBBBBBBB BBB BBB BBBBBBBBBBBBBBBBBBBBB
              XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXX
                BBBBBBBBBB
                XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX
                XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX
                XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXX XXXXXXXFFFFFFFFFFFFXX
                XXXXXXXX XXXXXXX pgettext(u'field', u'Message (optional)') XX
                  XXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXX
                XXXXXXXXXX
                XXXX XXXXXXXXXXXX
                  XXXXXXX XXXXXXXXXX BB BBBBBBBBBBBBBXXXXXXXBBBBBX
                          XXXXXXXXX
                          XXXXXXXXXXXXXXXX
                     pgettext(u'button', u'Approve %(n)s in %(pool)s') 
                      SSSSSSS SSSSS SS SSSSSSSS
                    
                  XXXXXXXXX
                XXXXXX
              XXXXXXX
            BBBBB
          XXXXXXXXXX
        BBBBB
          XXXXXXXX XXXXXXX gettext(u'No pool has such GPUs') XX
             gettext(u'Create a pool with this model, or partition GPUs, then decide.') 
            XXXXXXX XXXXXXXXXXXXXXX
              XX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Clusters') XXXX
            XXXXXXXXX
          XXXXXXXXXX
        BBBBBB
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Decline') XX
          XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXX
            BBBBBBBBBB
            XXXXXXXX XXXXXXX pgettext(u'field, why', u'Reason') XX
              XXXXXX XXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXX
            XXXXXXXXXX
            XXXX XXXXXXXXXXXX
              XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Decline') XXXXXXXXX
            XXXXXX
          XXXXXXX
        XXXXXXXXXX
      BBBB BBBBBBBBB BB BBBBBB
        XXXXXXX XXXXXXX gettext(u'Waiting for an operator.') XX
          BB BBBBBBBB
             gettext(u"You'll be notified when it is decided.") 
          BBBBB
        XXXXXXXXX
      BBBB BBBBBBBBB BB BBBBBBB BBB BBBBBBBBBBBBBBB BBB BBBBBBBBBBBBBBBBBBBBB BB BBBBBBB
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBB
      BBBB BBBBBBBBB BB BBBBBBBBBB
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBBBBBB
        XXXXXXXX XXXXXXX pgettext(u'heading', u'Run a job here') XX
          XXXXXXX XXXXXXXXXXXX XXX XXXXXX  XXXXXX XX XX XXXXXX XXXXXXXXX XX
        XXXXXXXXXX
      BBBBB
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBB
    XXXXXX
    XXXX XXXXXXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'heading', u'Details') XX
        XXX XXXXXXXXXXXXXX
          XXXX pgettext(u'name of a value', u'Requested by') XXXXX
          XXXX
            X FFF
          XXXXX
          BB BBBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Purpose') XXXXX
            XXXX
              
            XXXXX
          BBBBB
          XXXX pgettext(u'name of a value', u'At most') XXXXX
          XXXX
             pgettext(u'value', u'%(n)s GPU-hours') 
              SSSSS SSSSSSSSS
            
          XXXXX
          BB BBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Budget') XXXXX
            XXXX
               pgettext(u'value', u'%(n)s GPU-hours') 
                SSSSS SSSSSSSSS
              
            XXXXX
          BBBBB
          BB BBBBBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Renews') XXXXX
            XXXX
              XX XXXXXXXXXXXXXXXXXXXXXXX pgettext(u'link', u'earlier request') XXXX
            XXXXX
          BBBBB
          BB BBBBBBBBBBBBBB
            XXXX pgettext(u'name of a value', u'Decided') XXXXX
            XXXX
              X FFF
            XXXXX
          BBBBB
        XXXXX
      XXXXXXXXXX
    XXXXXX
  XXXXXX
  BB BBBBBBB BBB BBBBBBBBB BB BBBBBBBBBB
    XXXXXXXXXXXXXX XXXXXXXXXX
                   XXXXXXX pgettext(u'heading', u'Renew') X
                   XXXXXXXX pgettext(u'button', u'Send request') X
                   XXXXXXXXXXX
      XX XXXXXXXXXXXX XXXXXXX gettext(u'An operator decides, as on the first request.') XXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Until') XX
        XXXXXX XXXXXXXXXXX
               XXXXXXXXXXXXXX
               XXXXXFFFFFFFFFFFFX
               XXXXXXXXX
      XXXXXXXXXX
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
